// What a curator does on the way through a draft. Knows no document; time comes in as milliseconds and
// everything a person does as a named action.

import { Editing } from "./editing.mjs";
import { uuid } from "./outbox.mjs";
import { ALL, Passage } from "./passage.mjs";
import { PAST } from "./standing.mjs";

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
const SAID = { yes: "You think two people would agree about", no: "You think two people would not agree about" };
const NOT_BLIND = new Set(["accept", "reject", "retire", "edit", "ghost", "half"]);

export class Curation extends Passage {
  // ---- what a person does

  // Returns whether there is something to send.
  /** @param {Action} action @param {number} now @returns {boolean} */
  act(action, now) {
    const { name } = action;
    if (name === "help") this.help = !this.help;
    else if (name === "guideline") this.guideline = !this.guideline;
    else if (name === "cancel") this.#cancel(now);
    else if (!this.editing && (name === "reason" || name === "typed")) return this.#giveReason(action, now);
    else if (name === "opinion" && !this.editing) return this.#second();
    else if (name === "yes" || name === "no") return this.#opine(name, now);
    else if (this.blind && NOT_BLIND.has(name)) return this.#refuse("You are giving a second opinion: Y or N. B leaves.");
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
    this.show(now);
    return !!this.agent && !this.haunts;
  }

  // Begins to give second opinions, or ends it.
  #second() {
    const { blind } = this;
    this.#choose({ name: "list", parts: { ...ALL, status: "second" } });
    this.decided = new Map();
    if (blind) this.list = null; // as the server chooses
    this.say(blind ? "" : "Would two people agree on whether it was done? Y or N, without what others have decided.");
    return true;
  }

  /** @param {string} word @param {number} now */
  #opine(word, now) {
    if (!this.blind) return this.#refuse("B begins to give second opinions, blind.");
    const state = this.statusOf(this.at);
    if (!state || !this.candidate) return this.#refuse("This one has not come yet.");
    this.#put(state, { kind: "opinion", opinion: word, mark: this.candidate.mark }, now);
    this.say(`${SAID[word]} ${this.outbox.all().at(-1).candidate}. U takes it back.`);
    return true;
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
    this.show(now);
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
    this.show(now);
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
    this.show(now);
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
    Object.assign(this, { ids: [], at: null, position: null, near: 0, asking: null, total: 0, agent: "", half: null });
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
    this.position = this.placeOf(id);
    this.near = this.position ?? this.near;
    this.show(now);
    return this.lacks || !this.candidate || (!!this.candidate.pair && !this.half);
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
      if ((one.kind === "opinion" || one.about === "opinion") !== this.blind) continue;
      if (one.kind === "undo") stack.splice(stack.findIndex((s) => s.uuid === one.undoes), 1);
      else stack.push(one);
    }
    const last = stack.at(-1);
    const state = last && this.statusOf(last.candidate);
    if (!state) return this.#refuse("There is nothing of yours to undo.");
    if (!this.blind && state.standing.at(-1)?.[0] !== last.uuid)
      return this.#refuse(`${last.candidate} was decided about by ${state.by} since; yours cannot be undone.`);
    const what = this.blind ? { about: "opinion" } : {};
    this.#put(state, { kind: "undo", undoes: last.uuid, ...what }, now, last.candidate);
    this.say(`Undone: ${PAST[last.kind].toLowerCase()} ${last.candidate}.`);
    this.#visit(last.candidate, now);
    return true;
  }
}
