// A way through a draft: what the server has sent of it, what is in view, what waits to be saved. Knows
// no document; time comes in as milliseconds.

import { decode } from "../../../sts/viewer/episode.mjs";
import { viewOf } from "../../../sts/viewer/playback.mjs";
import { PAST, folded, statusOf } from "./standing.mjs";

const AT_HAND = 60; // candidates whose episodes stay decoded
const NEAR = 4; // candidates ahead that are to be at hand
export const ALL = { category: "", difficulty: "", source: "", status: "" };
const PARTS = Object.keys(ALL);

/** @param {Listing | null} a @param {Listing} b */
const alike = (a, b) => !!a && PARTS.every((part) => a[part] === b[part]);

export class Passage {
  /** @type {Drafted["draft"]} */ draft = null;
  /** @type {string[]} */ drafts = [];
  /** @type {Listing | null} */ list = null; // what is gone through; null: the server chooses
  /** @type {string[]} */ ids = []; // by position in the list, with gaps
  /** @type {string | null} */ at = null; // the candidate in view
  /** @type {number | null} */ position = null; // of it in the list; null where it is in none
  /** @type {Map<string, Candidate & { decoded: Episode | null }>} */ candidates = new Map();
  /** @type {Map<string, Decided>} */ decided = new Map();
  /** @type {Drafted["coverage"]} */ coverage = [];
  /** @type {Line[]} */ log = [];
  /** @type {Undoable[]} */ undoable = [];
  /** @type {{ message: string, said: string }[]} */ refused = [];
  /** @type {string | null} */ asking = null; // the decision that waits for its reason
  /** @type {import("./editing.mjs").Editing | null} */ editing = null;
  /** @type {Sight | null} */ sight = null; // the latest that came
  /** @type {Map<string, Passed>} */ profiles = new Map(); // by the mark of what was continued
  /** @type {Half | null} */ half = null; // the other half of the pair of what is in view
  /** @type {(Ghost & { decoded: Episode | null }) | null} */ ghost = null; // the latest that came
  agent = ""; // whose continuation is to be shown; "" for the recording
  sees = false; // what the asked one sees is to be shown
  /** @type {Drafted["agreement"]} */ agreement = null;
  total = 0;
  near = 0; // where in the list one was last
  help = false;
  guideline = false; // what holds in doubtful cases is to be shown
  message = { text: "A accepts, R rejects, J goes on. ? shows all keys.", tone: "info" };

  /** @param {{ outbox: import("./outbox.mjs").Outbox, playback: import("../../../sts/viewer/playback.mjs").Playback,
   *   random: (array: Uint8Array) => Uint8Array,
   *   place?: { draft: string, list: Listing, at: string } | null }} how */
  constructor({ outbox, random, playback, place }) {
    this.outbox = outbox;
    this.random = random;
    this.playback = playback;
    playback.loops = true;
    playback.say = (text) => this.say(text);
    this.name = place?.draft ?? null; // of the draft that is asked for
    this.list = place?.list ?? null;
    this.at = place?.at ?? null;
  }

  // Where one is, to be found again by another page.
  get place() {
    return { draft: this.name, list: this.list, at: this.at };
  }

  // What each message asks for, beside what it brings.
  get asks() {
    const has = [...this.candidates.values()].map(({ id, mark }) => [id, mark]);
    const sight = this.sees && !this.seen ? this.at : null;
    const ghost = this.agent && !this.haunts ? { candidate: this.at, agent: this.agent } : null;
    return { ...this.place, has, edit: this.editing?.asks ?? null, sight, ghost };
  }

  say(text, tone = "info") {
    this.message = { text, tone };
  }

  // ---- what the server sends

  /** @param {Drafted} data @param {number} now */
  receive(data, now) {
    this.#settle(data.acks);
    this.drafts = data.drafts ?? this.drafts;
    if (!data.draft) return data.trouble || this.#take(null);
    if (this.name && data.draft.name !== this.name && this.drafts.includes(this.name)) return;
    if (this.draft?.id !== data.draft.id) this.#take(data.draft);
    for (const one of data.states) this.decided.set(one.id, one);
    for (const one of data.candidates) this.#keep(one);
    Object.assign(this, { coverage: data.coverage, log: data.log, undoable: data.undoable, agreement: data.agreement });
    if (!this.list || alike(this.list, data.list)) this.#listed(data);
    if (data.edit) this.editing?.receive(data.edit);
    this.sight = data.sight ?? this.sight;
    for (const one of data.passed ?? []) this.profiles.set(one.mark, one);
    if (data.half === null || data.half?.of === this.at) this.half = data.half;
    if (data.ghost) this.#haunted(data.ghost);
    this.show(now);
  }

  /** @param {Ghost} ghost */
  #haunted(ghost) {
    this.ghost = { ...ghost, decoded: ghost.episode && decode(ghost.episode) };
    if (ghost.broken) this.say(`This continuation cannot be shown: ${ghost.broken}`, "warning");
  }

  /** @param {Drafted["draft"]} draft */
  #take(draft) {
    const another = this.name !== (draft?.name ?? null);
    Object.assign(this, { draft, ids: [], candidates: new Map(), decided: new Map(), asking: null, editing: null });
    if (another) Object.assign(this, { list: null, at: null });
    this.name = draft?.name ?? null;
    if (!draft) this.playback.open(null, 0);
  }

  /** @param {Ack[]} acks */
  #settle(acks) {
    const sent = new Map(this.outbox.all().map((one) => [one.uuid, one]));
    for (const { uuid: which, status, message } of this.outbox.settle(acks)) {
      if (status !== "refused") continue;
      const { kind, candidate, reason, said: what } = sent.get(which);
      const said = `${PAST[kind].toLowerCase()} ${candidate}${reason || what ? `, “${reason || what}”` : ""}`;
      this.refused.push({ message, said });
    }
  }

  /** @param {Candidate} one */
  #keep(one) {
    let decoded = null;
    try {
      decoded = one.broken ? null : decode(one.episode);
    } catch (/** @type {any} */ error) {
      one.broken = error.message;
    }
    this.candidates.delete(one.id); // so that the latest stand last
    this.candidates.set(one.id, { ...one, decoded });
    for (const id of this.candidates.keys())
      if (this.candidates.size > AT_HAND && id !== this.at) this.candidates.delete(id);
  }

  /** @param {Drafted} data */
  #listed(data) {
    if (data.total !== this.total) this.ids = [];
    this.list = data.list;
    this.total = data.total;
    data.ids.forEach((id, i) => (this.ids[data.first + i] = id));
    this.at ??= data.at;
    if (this.at === data.at) this.position = data.position;
    else if (this.position === null || this.ids[this.position] !== this.at) this.position = this.placeOf(this.at);
    this.near = this.position ?? this.near;
  }

  /** @param {string | null} id */
  placeOf(id) {
    const found = id === null ? -1 : this.ids.indexOf(id);
    return found < 0 ? null : found;
  }

  // ---- what is in view

  get candidate() {
    return this.candidates.get(this.at) ?? null;
  }

  /** @param {number} now */
  show(now) {
    const shown = this.haunts?.decoded ?? this.candidate?.decoded ?? null;
    const episode = this.editing ? this.editing.whole ?? this.playback.view?.episode : shown;
    const { view } = this.playback;
    if (view?.episode === episode) return;
    const same = view && view.episode.id === episode?.id;
    const frame = same ? Math.min(Math.max(0, view.frame + this.#shift(view.episode, episode)), episode.steps) : 0;
    const was = this.playback.playing;
    this.playback.open(episode && viewOf(episode, frame), now);
    if (frame && was) this.playback.play(now);
  }

  // A second opinion is given: of what others have decided nothing is shown.
  get blind() {
    return this.list?.status === "second";
  }

  // What one thinks of a candidate, with what waits to be saved: "yes", "no" or "".
  /** @param {string} id */
  opinionOf(id) {
    let word = this.decided.get(id)?.opinion ?? "";
    for (const one of this.outbox.all())
      if (one.candidate === id && one.kind === "opinion") word = one.opinion;
      else if (one.candidate === id && one.about === "opinion") word = "";
    return word;
  }

  // What is in view as steps of the trajectory, and back, where one is shown instead of the other.
  /** @param {Episode} from @param {Episode} to */
  #shift(from, to) {
    if (from.steps === to.steps) return 0;
    const whole = this.editing?.whole;
    const begins = this.candidate.moment - this.candidate.context;
    return to === whole ? begins : from.steps > to.steps ? -begins : 0;
  }

  // The continuation that is to be shown, where one is and it has come.
  get haunts() {
    const { ghost, candidate, agent } = this;
    return agent && ghost?.agent === agent && ghost.id === candidate?.id && ghost.mark === candidate.mark ? ghost : null;
  }

  // How many continuations of the candidate in view each agent passes; null as long as it is not known.
  get passed() {
    return this.profiles.get(this.candidate?.mark)?.passed ?? null;
  }

  // What the asked one sees, where it is to be shown and has come.
  get seen() {
    const { sight, candidate } = this;
    return this.sees && sight && sight.id === candidate?.id && sight.mark === candidate.mark ? sight : null;
  }

  // The candidates that are likely to be in view next.
  get soon() {
    const near = [this.near + 1, this.near - 1].map((i) => this.candidates.get(this.ids[i])?.decoded);
    return near.filter(Boolean).map((episode) => ({ episode, frame: 0 }));
  }

  // Whether what may be in view next is still to come.
  get lacks() {
    const wanted = this.ids.slice(Math.max(0, this.near - 1), this.near + NEAR + 1);
    const named = Math.min(this.total, this.near + NEAR + 1) - Math.max(0, this.near - 1);
    return wanted.length < named || wanted.some((id) => id === undefined || !this.candidates.has(id));
  }

  // What a candidate has come to, with what waits to be saved.
  /** @param {string} id @returns {Status | null} */
  statusOf(id) {
    const known = this.decided.get(id);
    if (!known) return null;
    const waiting = this.outbox.all().filter((one) => one.candidate === id);
    return statusOf(folded(known, waiting));
  }
}
