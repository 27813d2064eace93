// What passes between whoever shows an episode, these modules and the drawings of worlds. Read by the
// type checker alone (`make check`); no page loads it.

type Instruction = { text: string; given_at: number };
type Utterance = { frame: number; object: number; text: string };
type Place = { x: number; y: number; reach: number };
type Pictured = "here" | "coming" | "broken";

/** A picture that holds `count` frames, `columns` beside each other. */
type Sprite = { webp: string; columns: number; count: number };

/** What is marked on the board: cells from the takeover on, and what the judged see around them. */
type Overlay = { cells: number[]; sight: boolean };
/** When it is done, what holds in doubtful cases, and what is marked. */
type Criterion = Overlay & { done: string; guideline: string };

/** An episode as the server sends it; arrays are base64. */
type Payload = {
  id: string;
  drawing: string | null;
  height: number;
  width: number;
  names: string[];
  glyphs: string[];
  judged: number[];
  details: any;
  steps: number;
  takeover: number;
  horizon: number;
  scene?: string;
  sprites?: Sprite[];
  says: string;
  tokens: string[];
  texts?: [number, number, string][];
  instructions: Instruction[];
  criterion?: Criterion | null;
  training?: boolean;
};

/** An episode as `decode` makes it. */
type Episode = Omit<Payload, "scene"> & {
  instruction: Instruction;
  scene: ((frame: number) => Uint16Array) | null;
  utterances: Utterance[];
  length: number;
};

/** What is gone through. */
type View = { episode: Episode; frame: number; watched: Set<number> };

/** What a key or a button asks for. */
type Action = {
  name: string;
  by?: number;
  frame?: number;
  at?: number;
  text?: string;
  move?: string;
  word?: string;
  parts?: object;
};
type KeyRow = { keys: string[]; action: string; show?: string; help?: string };

type Verdict = "success" | "failure" | "not_done" | "cannot_judge";
/** What the server shows to the page of those who act; `turns` are [move, token]. */
type Shown = {
  session: string | null;
  first: number;
  frames: any[];
  sprites?: Sprite[];
  drawing?: string;
  height?: number;
  width?: number;
  kind: string;
  moves: string[];
  tokens: string[];
  turns: [number, number][];
  played: number;
  received: number;
  takeover: number;
  horizon: number;
  finished: boolean;
  instructions: Instruction[];
  you?: string;
  broken?: number;
};

type Theme = { background: string; text: string; grid: string; accent: string; dark: boolean };
type Options = Theme & { scale: number; edge: string; overlay?: Overlay | null };

/** What a world's own ES module exports; docs/worlds.md says what each is. */
type Drawing = {
  paint(canvas: HTMLCanvasElement, episode: Episode, frame: number, options: Options): Place[] | null;
  describe?(episode: Episode, frame: number): string;
  paintObject?(canvas: HTMLCanvasElement, episode: Episode, object: number, options: object): void;
  paintSight(canvas: HTMLCanvasElement, sight: any, options: Options): void;
  describeSight?(sight: any): string;
  placeOf?(sight: any): string;
};
type Drawings = Map<string | null, Drawing | null>;

interface Window {
  /** Clips that are shown in it. */
  stsClips?: Set<any>;
}
