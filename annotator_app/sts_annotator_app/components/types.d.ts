// What passes between the server, these modules and the drawings of worlds. Read by the type checker
// alone (`make check`); the page loads nothing of it.

type Mark = { verdict: Verdict; step: number | null; reason: string | null };

/** An episode in a judge's hands. */
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
/** A round of training: how many of it were answered, and how many of these agreed with what is known. */
type Round = { size: number; answered: number; agreed: number; share: number; rounds: number };
/** What a person has judged, of it since midnight with the seconds of work, and what is left for all. */
type Counts = { done: number; broken?: number; left?: number; today?: number; seconds?: number };

/** What the server sends to the page of those who judge. */
type Judged = {
  acks: Ack[];
  queue: (Payload | { id: string })[] | null;
  more?: boolean;
  training?: Round | null;
  counts?: Counts;
  previous?: { uuid: string; mark: Mark; episode: Payload }[];
};

/** What one judge says, who is a letter. */
type Said = { by: string; verdict: Verdict; step: number | null; reason: string };
type Rule = [verdict: Verdict, step: number | null];

/** A clip that waits for a reviewer, as the server sends it. */
type ReviewCase = { episode: Payload; said: Said[]; about: string; ruled: Rule | null; remarks: string[] };

/** A clip in a reviewer's hands. */
type Review = View &
  Omit<ReviewCase, "episode"> & {
    mark: Mark | null;
    label: string | null;
    words: string;
    corrects: string | null;
    spent: number;
  };
type QueueProgress = { waiting: number; done: number; of: number; own: number; left: number };

/** What the server sends to the page of those who review. */
type ReviewData = {
  author: string;
  acks: Ack[];
  news: { item: string; text: string }[];
  cases: ReviewCase[] | null;
  queue: string;
  queues: Record<string, QueueProgress> | null;
  errors: [label: string, source: string, meaning: string][];
  empty: { title?: string; text?: string };
  meanwhile: { item: string; text: string } | null;
  trouble: string;
};

/** A standing decision: its uuid, its kind, whose it is, and why. */
type Standing = [uuid: string, kind: string, by: string, reason: string];

/** What was decided about a candidate; `mark` says as what it was edited last. */
type Decided = {
  id: string;
  inherited: boolean;
  last: string;
  standing: Standing[];
  mark: string;
  opinion: string;
  opinions: [by: string, word: string][];
};

/** What a candidate has come to, with what waits to be saved. */
type Status = { status: string; by: string; reason: string; last: string; standing: Standing[]; inherited: boolean };

/** A candidate as the server sends it; without an episode where that is `broken`. */
type Candidate = {
  id: string;
  mark: string;
  broken: string;
  text: string;
  criterion: Criterion | null;
  category: string;
  kind: string;
  difficulty: string;
  source: string;
  parameters: [string, string][];
  label: [string, number | null] | null;
  fault: string | null;
  tags: string[];
  moment: number;
  context: number;
  length: number;
  role: number;
  partner: string;
  pair: string;
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
  opinion?: string;
  mark?: string;
  changes?: Record<string, any>;
  said?: string;
};
type Line = { uuid: string; candidate: string; kind: string; by: string; at: number; why: string };
type Undoable = { uuid: string; candidate: string; kind: string };

/** What there is to choose from in a candidate's trajectory; `objects` by role. */
type Whole = { episode: Payload; roles: string[]; objects: number[]; categories: string[] };

/** What changes of a candidate come to, or why they cannot be. */
type Tried = {
  number: number;
  candidate: string;
  mark?: string;
  whole?: Whole;
  facts?: Omit<Candidate, "id" | "mark" | "broken" | "source" | "episode">;
  changes?: [string, string, string][];
  wordings?: string[];
  error?: string;
};
type Passed = { id: string; mark: string; passed: [agent: string, successes: number, of: number][] };
type Ghost = { id: string; mark: string; agent: string; episode: Payload | null; broken: string };
type Half = Omit<Candidate, "episode"> & { of: string; status: string };
type Sight = { id: string; mark: string; view: any; broken: string };

/** What the server sends to the page of those who decide about a draft. */
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
  agreement?: { alpha: number | null; shared: number; people: number; pairs: number; agreeing: number; why: string } | null;
  edit?: Tried | null;
  sight?: Sight | null;
  trouble?: string;
};

/** localStorage, or what stands in for it. */
type Kept = Pick<Storage, "length" | "key" | "getItem" | "setItem" | "removeItem">;

interface Window {
  /** Whose page this is until it is loaded anew. */
  stsOwner?: string;
}
