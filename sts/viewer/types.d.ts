// Types shared by the pages, the Viewer's modules and drawing modules, for the type checker only
// (`make check`).

type Instruction = { text: string; given_at: number };
type Utterance = { frame: number; object: number; text: string };
type Place = { x: number; y: number; reach: number };
type Pictured = "here" | "coming" | "broken";

/** A picture of `count` frames in `columns` columns. */
type Sprite = { webp: string; columns: number; count: number };

/** Markings on the board: cells from the takeover on, and the view of the evaluated players. */
type Overlay = { cells: number[]; sight: boolean };
/** Success criterion, edge cases and markings. */
type Criterion = Overlay & { done: string; guideline: string; language?: string };

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

/** An episode with its current frame. */
type View = { episode: Episode; frame: number; watched: Set<number> };

/** A named action of a key or button. */
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
/** Views of a player, by frame: their sight, or pictures. */
type Shown = {
  session: string | null;
  frames: any[];
  sprites?: Sprite[];
  drawing?: string;
  height?: number;
  width?: number;
  takeover: number;
};

type Theme = { background: string; text: string; grid: string; accent: string; dark: boolean };
type Options = Theme & { scale: number; edge: string; overlay?: Overlay | null };

/** Exports of a drawing module; see docs/worlds.md. */
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
  /** Clips displayed in the window. */
  stsClips?: Set<any>;
}
