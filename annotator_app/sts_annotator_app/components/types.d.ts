// Types of the data exchanged between the server and these modules, for the type checker only
// (`make check`).

type Mark = { verdict: Verdict; step: number | null; reason: string | null };

/** An annotator's visit of an episode. */
type Visit = View & {
  mark: Mark | null;
  corrects: string | null;
  spent: number;
  sent?: string;
  answer?: Ack;
  before?: Mark | null;
};
type Submission = Mark & {
  uuid: string;
  item: string;
  seconds: number;
  watched: number;
  corrects: string | null;
  training?: boolean;
};
type Ack = { uuid: string; status: string; message?: string; truth?: Verdict; step?: number | null };
/** A training round: its size, the answers given, and how many of them were correct. */
type Round = { size: number; answered: number; agreed: number; share: number; rounds: number };
/** Judgements of a person in total and since midnight, with active seconds, and those remaining for all. */
type Counts = { done: number; broken?: number; left?: number; today?: number; seconds?: number };

/** Data of the judging page. */
type Judged = {
  acks: Ack[];
  queue: (Payload | { id: string })[] | null;
  more?: boolean;
  training?: Round | null;
  counts?: Counts;
  previous?: { uuid: string; mark: Mark; episode: Payload }[];
};

/** The verdict of one annotator, who is a letter. */
type Said = { by: string; verdict: Verdict; step: number | null; reason: string };
type Rule = [verdict: Verdict, step: number | null];

/** A queued clip for review, as the server sends it. */
type ReviewCase = { episode: Payload; said: Said[]; about: string; ruled: Rule | null; remarks: string[] };

/** A reviewer's visit of a clip. */
type Review = View &
  Omit<ReviewCase, "episode"> & {
    mark: Mark | null;
    errorType: string | null;
    words: string;
    corrects: string | null;
    spent: number;
  };
type QueueProgress = { waiting: number; done: number; of: number; own: number; left: number };

/** Data of the review page. */
type ReviewData = {
  author: string;
  acks: Ack[];
  news: { item: string; text: string }[];
  cases: ReviewCase[] | null;
  queue: string;
  queues: Record<string, QueueProgress> | null;
  errors: [name: string, source: string, meaning: string][];
  empty: { title?: string; text?: string };
  meanwhile: { item: string; text: string } | null;
  trouble: string;
};

/** A decision in force. */
type Standing = [uuid: string, kind: string, by: string, reason: string];

/** Decisions about a candidate; `mark` is the hash of its current version. */
type Decided = {
  id: string;
  inherited: boolean;
  last: string;
  standing: Standing[];
  mark: string;
  rating: string;
  ratings: [by: string, word: string][];
};

/** Status of a candidate, including unsaved decisions. */
type Status = { status: string; by: string; reason: string; last: string; standing: Standing[]; inherited: boolean };

/** A candidate as the server sends it; without an episode if it is `broken`. */
type Candidate = {
  id: string;
  mark: string;
  broken: string;
  instruction: string;
  criterion: Criterion | null;
  category: string;
  kind: string;
  difficulty: string;
  source: string;
  parameters: [string, string][];
  label: [string, number | null] | null;
  fault: string | null;
  unchecked: string;
  doubts?: string;
  own: Record<string, string>;
  tags: string[];
  takeover: number;
  context: number;
  horizon: number;
  player: number;
  partner: string;
  pair: string;
  dialogue: string;
  turn: number;
  episode: Payload;
};
type Listing = { category: string; difficulty: string; source: string; status: string; number: number | null };
type Decision = {
  uuid: string;
  draft: string;
  candidate: string;
  kind: string;
  follows: string;
  reason?: string;
  undoes?: string;
  about?: string;
  rating?: string;
  mark?: string;
  changes?: Record<string, any>;
  said?: string;
};
type Line = { uuid: string; candidate: string; kind: string; by: string; at: number; why: string };
type Undoable = { uuid: string; candidate: string; kind: string };

/** A candidate's trajectory with the available players and categories; `objects` by player. */
type Whole = { episode: Payload; players: string[]; objects: number[]; categories: string[]; partners: string[] };

/** Preview of an edit, or its error. */
type Tried = {
  number: number;
  candidate: string;
  mark?: string;
  whole?: Whole;
  facts?: Omit<Candidate, "id" | "mark" | "broken" | "source" | "episode">;
  changes?: [string, string, string][];
  templates?: string[];
  steps?: number[];
  notice?: string;
  error?: string;
};
type Passed = { id: string; mark: string; passed: [agent: string, successes: number, of: number][] };
type Ghost = { id: string; mark: string; agent: string; episode: Payload | null; broken: string };
type Half = Omit<Candidate, "episode"> & { of: string; status: string };
type Sight = { id: string; mark: string; view: any; broken: string };

/** Data of the curation page. */
type Drafted = {
  acks: Ack[];
  drafts: string[];
  draft: { name: string; id: string; parent: string | null; candidates: number } | null;
  list: Listing;
  total: number;
  position: number | null;
  at: string | null;
  first: number;
  ids: string[];
  candidates: Candidate[];
  states: Decided[];
  coverage: [string, string, string, string, number][];
  log: Line[];
  undoable: Undoable[];
  passed?: Passed[];
  ghost?: Ghost | null;
  half?: Half | null;
  elsewhere?: number | null;
  linked?: string | null;
  agreement?: { alpha: number | null; pairs: number; agreeing: number; why: string } | null;
  edit?: Tried | null;
  sight?: Sight | null;
  trouble?: string;
};

/** First message of a live session. */
type LiveHello = {
  type: "hello";
  session: string;
  activity: string;
  drawing: string | null;
  layout: Pick<Payload, "height" | "width" | "names" | "glyphs" | "details"> & { players: number[] };
  moves: string[];
  tokens: string[];
  keys: Record<string, string>;
  repeats: boolean;
  tick: number | null;
  max_steps: number;
  takeover: number;
  me: number;
  player: number | null;
  players: (number | null)[];
  instructions: { text: string; step: number }[];
  practice: boolean;
};
/** What a person sees after a step; `said` only if they control no player. */
type LiveFrame = {
  type: "frame";
  t: number;
  view: any;
  said: [player: number, text: string][];
  watch: boolean;
  slow: boolean;
};
type LiveTold = {
  text: string;
  step: number;
  by: number;
  mark: string;
  key: string;
};
type LiveState = {
  type: "state";
  roles: string[];
  kinds: string[];
  here: number[];
  told: LiveTold[];
  swapped: number;
  ended: string;
};
/** Data of the page of a live session. */
type LiveData = {
  author: string;
  base: string;
  session: string;
  prompts: { kind: string; difficulty: string; text: string }[];
  completions: string[];
};
/** An instruction that this person gave; `index` is null until it is saved. */
type LiveAsked = { id: string; index: number | null; text: string; step: number | null; mark: string; isSaved: boolean };

/** localStorage, or a substitute for it. */
type Kept = Pick<Storage, "length" | "key" | "getItem" | "setItem" | "removeItem">;

interface Window {
  /** Person that the page belongs to until it is reloaded. */
  stsOwner?: string;
}
