// A curator's way through a draft: what is in view, what was decided, what waits to be saved. Knows no
// document; time comes in as milliseconds and everything a person does as a named action.

import { Editing } from "./editing.mjs";
import { decode } from "./episode.mjs";
import { uuid } from "./outbox.mjs";
import { viewOf } from "./playback.mjs";
import { folded, statusOf } from "./standing.mjs";

/** @type {Record<string, string[]>} */
export const WHY = {
  reject: [
    "two people would not agree on when it is done",
    "what is asked about was not in sight",
    "nothing is left to do: it is done already, or waiting does it",
    "too much like another candidate",
    "the words are unclear",
  ],
  retire: [
    "every agent passes it",
    "no agent passes it",
    "people did not agree about it",
    "too much like another scenario",
    "the words are unclear",
  ],
};
const PAST = { accept: "Accepted", reject: "Rejected", retire: "Retired", undo: "Undone", edit: "Edited" };
const AT_HAND = 60; // candidates whose episodes stay decoded
const NEAR = 4; // candidates ahead that are to be at hand
const ALL = { category: "", difficulty: "", source: "", status: "" };
const PARTS = Object.keys(ALL);

/** @param {Listing | null} a @param {Listing} b */
const alike = (a, b) => !!a && PARTS.every((part) => a[part] === b[part]);

export class Curation {
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
  /** @type {Editing | null} */ editing = null;
  /** @type {Sight | null} */ sight = null; // the latest that came
  /** @type {Map<string, Passed>} */ profiles = new Map(); // by the mark of what was continued
  /** @type {Half | null} */ half = null; // the other half of the pair of what is in view
  /** @type {(Ghost & { decoded: Episode | null }) | null} */ ghost = null; // the latest that came
  agent = ""; // whose continuation is to be shown; "" for the recording
  sees = false; // what the asked one sees is to be shown
  total = 0;
  near = 0; // where in the list one was last
  help = false;
  message = { text: "A accepts, R rejects, J goes on. ? shows all keys.", tone: "info" };

  /** @param {{ outbox: import("./outbox.mjs").Outbox, playback: import("./playback.mjs").Playback,
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
    Object.assign(this, { coverage: data.coverage, log: data.log, undoable: data.undoable });
    if (!this.list || alike(this.list, data.list)) this.#listed(data);
    if (data.edit) this.editing?.receive(data.edit);
    this.sight = data.sight ?? this.sight;
    for (const one of data.passed ?? []) this.profiles.set(one.mark, one);
    if (data.half === null || data.half?.of === this.at) this.half = data.half;
    if (data.ghost) this.#haunted(data.ghost);
    this.#show(now);
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
    for (const { uuid: which, message } of this.outbox.settle(acks)) {
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
    else if (this.position === null || this.ids[this.position] !== this.at) this.position = this.#placeOf(this.at);
    this.near = this.position ?? this.near;
  }

  /** @param {string | null} id */
  #placeOf(id) {
    const found = id === null ? -1 : this.ids.indexOf(id);
    return found < 0 ? null : found;
  }

  // ---- what is in view

  get candidate() {
    return this.candidates.get(this.at) ?? null;
  }

  /** @param {number} now */
  #show(now) {
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

  // ---- what a person does

  // Returns whether there is something to send.
  /** @param {Action} action @param {number} now @returns {boolean} */
  act(action, now) {
    const { name } = action;
    if (name === "help") this.help = !this.help;
    else if (name === "cancel") this.#cancel(now);
    else if (!this.editing && (name === "reason" || name === "typed")) return this.#giveReason(action, now);
    else if (name === "sight") return this.#look();
    else if (name === "edit") return this.#edit(now);
    else if (name === "ghost" && !this.editing) return this.#haunt(action.text, now);
    else if (name === "half" && !this.editing) return this.half ? this.#visit(this.half.id, now) : this.#refuse("This one is of no pair.");
    else if (this.editing) return this.#try(action, now);
    else if (name === "draft") return this.#open(action.text);
    else if (name === "list") return this.#choose(action);
    else if (name === "undo") return this.#undo(now);
    else if (name === "next" || name === "previous") return this.#step(name === "next" ? 1 : -1, now);
    else if (name === "candidate") return this.#visit(action.text, now);
    else if (["accept", "reject", "retire"].includes(name)) return this.#decide(name, now);
    else this.playback.act(action, now);
    return false;
  }

  /** @param {number} now */
  #cancel(now) {
    if (this.refused.length) this.refused = [];
    else if (this.help) this.help = false;
    else if (this.editing) this.#leave(now);
    else if (this.asking) {
      this.asking = null;
      this.say("Nothing decided.");
    }
  }

  #look() {
    this.sees = !this.sees;
    this.say(this.sees ? "What the asked one sees. V shows all." : "");
    return this.sees && !this.seen;
  }

  // Shows another's continuation in the place of the recording: `agent`, or the next one in order.
  /** @param {string | undefined} agent @param {number} now */
  #haunt(agent, now) {
    if (!this.passed) return this.#refuse("The agents have not gone on from here yet.");
    const order = ["", ...this.passed.map(([name]) => name)];
    this.agent = agent ?? order[(order.indexOf(this.agent) + 1) % order.length];
    this.say(this.agent ? `The first continuation of ${this.agent}. G shows the next.` : "The recording.");
    this.#show(now);
    return !!this.agent && !this.haunts;
  }

  // ---- editing

  /** @param {number} now */
  #edit(now) {
    const state = this.statusOf(this.at);
    if (this.editing) return this.#leave(now);
    if (!state || !this.candidate || this.candidate.broken) return this.#refuse("This one cannot be edited.");
    this.asking = null;
    this.sees = false;
    this.agent = "";
    this.playback.playing = false;
    this.editing = new Editing(this.candidate, state.last);
    this.say("S, M and L put the start, the takeover and the last step where you are. Enter saves, Esc leaves.");
    return true;
  }

  /** @param {number} now */
  #leave(now) {
    const { changes, warned } = this.editing;
    if (Object.keys(changes).length && !warned) {
      this.editing.warned = true;
      return this.#refuse("Esc once more drops what you have changed; Enter saves it.");
    }
    this.editing = null;
    this.say("Left as it was.");
    this.#show(now);
    return false;
  }

  // Returns whether the server is to be asked what follows.
  /** @param {Action} action @param {number} now */
  #try({ name, at, by, frame, text, word }, now) {
    const { editing, playback } = this;
    const here = { "start-here": "start", takeover: "takeover", "end-here": "end" }[name];
    if (here) editing.move(here, playback.frame);
    else if (name === "move") {
      editing.move(text, frame);
      playback.act({ name: "seek", frame: editing.span[text] }, now);
    } else if (name === "change") this.#change(text, word);
    else if (name === "reason" && editing.tried?.wordings?.[at] !== undefined) editing.change("wording", at);
    else if (name === "typed") return this.#save(now);
    else if (!playback.act({ name, at, by, frame }, now))
      return this.#refuse("You are editing: Enter saves, Esc leaves.");
    this.#show(now);
    return !!editing.asks;
  }

  /** @param {string} name @param {string} value */
  #change(name, value) {
    const tags = () => value.split(",").map((tag) => tag.trim()).filter(Boolean);
    this.editing.change(name, { role: () => +value, tags }[name]?.() ?? value);
  }

  /** @param {number} now */
  #save(now) {
    const { editing } = this;
    const { tried, said, changes, follows } = editing;
    if (editing.answered !== editing.number) return this.#refuse("One moment: what follows from this is being worked out.");
    if (tried.error) return this.#refuse(`Not saved: ${tried.error}.`);
    if (!tried.changes.length) return this.#refuse("Nothing is another than before. Esc leaves.");
    const state = { ...this.statusOf(this.at), last: follows };
    this.editing = null;
    this.#put(state, { kind: "edit", changes, said }, now);
    this.say(`Edited ${this.at}: ${said}. U undoes it.`);
    this.#show(now);
    return true;
  }

  /** @param {string} name */
  #open(name) {
    if (name === this.name || !this.drafts.includes(name)) return false;
    Object.assign(this, { name, list: null, at: null, position: null, near: 0 });
    this.say(`Opening ${name} ...`);
    return true;
  }

  // Chooses another list; what `action` does not say stays as it is.
  /** @param {Action & { parts?: Partial<Listing> }} action */
  #choose({ parts }) {
    this.list = { ...ALL, ...this.list, ...parts, number: null };
    Object.assign(this, { ids: [], at: null, position: null, near: 0, asking: null, total: 0 });
    this.playback.open(null, 0);
    return true;
  }

  /** @param {number} by @param {number} now */
  #step(by, now) {
    const to = this.position === null ? this.near : this.position + by;
    this.asking = null;
    if (to < 0) this.say("This is the first of the list.");
    else if (to >= this.total) this.say("This is the last of the list. F chooses another.");
    else if (this.ids[to] === undefined) this.say("One moment ...");
    else {
      this.say("");
      return this.#visit(this.ids[to], now);
    }
    return this.lacks;
  }

  /** @param {string} id @param {number} now */
  #visit(id, now) {
    this.asking = null;
    this.agent = "";
    if (this.at !== id) this.half = null;
    this.at = id;
    this.position = this.#placeOf(id);
    this.near = this.position ?? this.near;
    this.#show(now);
    return this.lacks || !this.candidate;
  }

  /** @param {string} kind @param {number} now */
  #decide(kind, now) {
    const state = this.statusOf(this.at);
    if (!state || !this.candidate) return this.#refuse("This one has not come yet.");
    if (kind === "reject" && state.inherited)
      return this.#refuse(`${this.at} is of ${this.draft.parent}: T retires it.`);
    if (kind === "retire" && !state.inherited)
      return this.#refuse(`T is for scenarios of a version before; R rejects ${this.at}.`);
    if (kind === "accept" && state.status === "kept")
      return this.#refuse(`${this.at} is of ${this.draft.parent} and stays unless it is retired. J goes on.`);
    if (kind === "accept") return this.#put(state, { kind }, now);
    this.asking = kind;
    this.say(`Why is it to be ${PAST[kind].toLowerCase()}? 1 to ${WHY[kind].length}; 0 or Enter for a reason of your own.`);
    return false;
  }

  #refuse(text) {
    this.say(text, "warning");
    return false;
  }

  // `at` is one of WHY; any other opens a field for the person's own words, which come as `text`.
  /** @param {Action} action @param {number} now */
  #giveReason({ at, text }, now) {
    if (!this.asking) return false;
    const reason = text === undefined ? WHY[this.asking][at] : text.trim();
    if (!reason) return text === undefined ? false : this.#refuse("Say why first, or Esc.");
    return this.#put(this.statusOf(this.at), { kind: this.asking, reason }, now);
  }

  /** @param {Status} state @param {Partial<Decision>} what @param {number} now */
  #put(state, what, now, candidate = this.at) {
    /** @type {Decision} */
    const decision = { uuid: uuid(this.random), draft: this.draft.id, candidate, kind: "", follows: state.last, ...what };
    this.outbox.put(decision);
    this.asking = null;
    const why = what.reason ? `: ${what.reason}` : "";
    this.say(`${PAST[what.kind]} ${candidate}${why}. U undoes it.`);
    if (what.kind !== "undo" && what.kind !== "edit") this.#onwards(now);
    return true;
  }

  /** @param {number} now */
  #onwards(now) {
    if (this.position === null) return;
    const next = this.ids[this.position + 1];
    if (next !== undefined) this.#visit(next, now);
    else if (this.position + 1 === this.total) this.say(`${this.message.text} That was the last of this list.`);
  }

  // The latest decision of one's own that stands: undone, and its candidate in view again.
  /** @param {number} now */
  #undo(now) {
    const stack = [...this.undoable].reverse();
    for (const one of this.outbox.all()) {
      if (one.kind === "undo") stack.splice(stack.findIndex((s) => s.uuid === one.undoes), 1);
      else stack.push(one);
    }
    const last = stack.at(-1);
    const state = last && this.statusOf(last.candidate);
    if (!state) return this.#refuse("There is nothing of yours to undo.");
    if (state.standing.at(-1)?.[0] !== last.uuid)
      return this.#refuse(`${last.candidate} was decided about by ${state.by} since; yours cannot be undone.`);
    this.#put(state, { kind: "undo", undoes: last.uuid }, now, last.candidate);
    this.say(`Undone: ${PAST[last.kind].toLowerCase()} ${last.candidate}.`);
    this.#visit(last.candidate, now);
    return true;
  }
}
