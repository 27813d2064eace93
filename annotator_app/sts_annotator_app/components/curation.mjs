// Actions of a curator on a draft. It is independent of the document; times are milliseconds, and input
// arrives as named actions.

import { Editing } from "./editing.mjs";
import { count } from "../../../sts/viewer/episode.mjs";
import { isTouch } from "../../../sts/viewer/keys.mjs";
import { uuid } from "./outbox.mjs";
import { ALL, Passage } from "./passage.mjs";
import { PAST, WHY, isolate, nameControl, refusal } from "./decisions.mjs";

const RATED = { yes: "Rated “annotators would agree”:", no: "Rated “annotators would not agree”:" };
const HIDDEN_WHEN_BLIND = new Set(["accept", "reject", "retire", "edit", "ghost", "half"]);

export class Curation extends Passage {
  warning = ""; // the latest one about this candidate; the action is carried out when it is repeated

  // Receives data; carries out a save that waited for the check of its changes.
  /** @override @param {Drafted} data @param {number} now */
  receive(data, now) {
    super.receive(data, now);
    const { editing } = this;
    if (editing?.saves && editing.answered === editing.number) this.#save(now);
  }

  // ---- input

  // Performs an action; returns true if there is something to send.
  /** @param {Action} action @param {number} now @returns {boolean} */
  act(action, now) {
    const { name } = action;
    if (name === "help") this.help = !this.help;
    else if (name === "guideline") this.guideline = !this.guideline;
    else if (name === "cancel") this.#cancel(now);
    else if (!this.editing && (name === "reason" || name === "typed")) return this.#giveReason(action, now);
    else if (name === "rating" && !this.editing) return this.#toggleSecondRating();
    else if (name === "yes" || name === "no") return this.#rate(name, now);
    else if (this.blind && HIDDEN_WHEN_BLIND.has(name)) return this.#refuse(`This is a second rating: press ${nameControl("yes")} or ${nameControl("no")}, or ${nameControl("rating")} to stop.`);
    else if (name === "sight") return this.#togglePlayerView();
    else if (name === "edit") return this.#edit(now);
    else if (name === "ghost" && !this.editing) return this.#showPreview(action.text, now);
    else if (name === "half" && !this.editing) return this.half ? this.#goTo(this.half.id, now) : this.#refuse("This candidate has no contrast pair.");
    else if (this.editing) return this.#actWhileEditing(action, now);
    else if (name === "draft") return this.#openDraft(action.text);
    else if (name === "list") return this.#changeFilter(action);
    else if (name === "undo") return this.#undo(now);
    else if (name === "next" || name === "previous") return this.#step(name === "next" ? 1 : -1, now);
    else if (name === "candidate") return this.#goTo(action.text, now);
    else if (["accept", "reject", "retire"].includes(name)) return this.#decide(name, now);
    else this.playback.act(action, now);
    return false;
  }

  /** @param {number} now */
  #cancel(now) {
    if (this.rejections.length) this.rejections = [];
    else if (this.help) this.help = false;
    else if (this.editing) this.#cancelEdit(now);
    else if (this.asking) {
      this.asking = null;
      this.say("Cancelled.");
    }
  }

  #togglePlayerView() {
    this.sees = !this.sees;
    this.say(this.sees ? `Showing the evaluated player's view. Press ${nameControl("sight")} to show everything.` : "");
    return this.sees && !this.seen;
  }

  // Displays an agent's continuation instead of the recording: `agent`, or the next one in order.
  /** @param {string | undefined} agent @param {number} now */
  #showPreview(agent, now) {
    if (!this.passed) return this.#refuse("Agent previews are not available yet.");
    const order = ["", ...this.passed.map(([name]) => name)];
    this.agent = agent ?? order[(order.indexOf(this.agent) + 1) % order.length];
    this.say(this.agent ? `First continuation of ${this.agent}.${isTouch() ? "" : " Press G for the next agent."}` : "Showing the recording.");
    this.show(now);
    return !!this.agent && !this.preview;
  }

  // Starts or stops second ratings.
  #toggleSecondRating() {
    const { blind } = this;
    this.#changeFilter({ name: "list", parts: { ...ALL, status: "second" } });
    this.decided = new Map();
    if (blind) this.list = null; // chosen by the server
    this.say(blind ? "" : `Would two annotators agree on whether it was completed? Press ${nameControl("yes")} or ${nameControl("no")}. Decisions of others are hidden.`);
    return true;
  }

  /** @param {string} word @param {number} now */
  #rate(word, now) {
    if (!this.blind) return this.#refuse(`Press ${nameControl("rating")} to start second ratings first.`);
    const state = this.statusOf(this.at);
    if (!state || !this.candidate) return this.#refuse("This candidate is still loading.");
    if (this.ended) return this.#refuse(this.#describeEnd());
    if (this.ratingOf(this.at) === word) return this.#refuse(`You rated ${this.at} “${word}” already. Press ${nameControl("next")} for the next one.`);
    const said = `${RATED[word]} ${this.at}. Press ${nameControl("undo")} to undo.`;
    this.#record(state, { kind: "rating", rating: word, mark: this.candidate.mark }, now, this.at, said);
    return true;
  }

  // ---- editing

  /** @param {number} now */
  #edit(now) {
    const state = this.statusOf(this.at);
    if (this.editing) return this.#cancelEdit(now);
    if (!state || !this.candidate || this.candidate.broken) return this.#refuse("This candidate cannot be edited.");
    this.asking = null;
    this.sees = false;
    this.warning = this.agent = "";
    this.playback.playing = false;
    this.editing = new Editing(this.candidate, state.last);
    const spans = isTouch() ? "Drag the start, takeover or last step." : "Press S, M or L to set the start, takeover or last step to the current frame.";
    this.say(`${spans} Press ${nameControl("save")} to save, ${nameControl("cancel")} to cancel.`);
    return true;
  }

  /** @param {number} now */
  #cancelEdit(now) {
    const { changes, warned } = this.editing;
    this.editing.saves = false;
    if (Object.keys(changes).length && !warned) {
      this.editing.warned = true;
      return this.#refuse(`You have unsaved changes. Press ${nameControl("cancel")} again to discard them, or ${nameControl("save")} to save.`);
    }
    this.editing = null;
    this.say("No changes made.");
    this.show(now);
    return false;
  }

  // Performs an action while editing; returns true if a preview is needed.
  /** @param {Action} action @param {number} now */
  #actWhileEditing({ name, at, by, frame, text, word }, now) {
    const { editing, playback } = this;
    const here = { "start-here": "start", takeover: "takeover", "end-here": "end" }[name];
    if (here) editing.move(here, playback.frame);
    else if (name === "move") {
      editing.move(text, frame);
      playback.act({ name: "seek", frame: editing.span[text] }, now);
    } else if (name === "change") this.#change(text, word);
    else if (name === "reason" && editing.tried?.templates?.[at] !== undefined) editing.change("template", at);
    else if (name === "typed") return this.#save(now);
    else if (!playback.act({ name, at, by, frame }, now))
      return this.#refuse(`You are editing: press ${nameControl("save")} to save or ${nameControl("cancel")} to cancel.`);
    this.show(now);
    return !!editing.asks;
  }

  /** @param {string} name @param {string} value */
  #change(name, value) {
    const tags = () => value.split(",").map((tag) => tag.trim()).filter(Boolean);
    const number = () => Math.round(+value) || 0;
    this.editing.change(name, { player: number, turn: number, tags }[name]?.() ?? value);
  }

  /** @param {number} now */
  #save(now) {
    const { editing } = this;
    const { tried, said, changes, follows } = editing;
    editing.saves = editing.answered !== editing.number;
    if (editing.saves) return this.#refuse("Checking the changes. They are saved when this is done.");
    if (tried.error) return this.#refuse(`Not saved: ${tried.error}.`);
    const { fault } = tried.facts ?? {};
    if (fault && tried.changes.length && !this.#isWarned(`${editing.number} ${fault}`))
      return this.#refuse(`This does not fit: ${isolate(fault)}. Press ${nameControl("save")} again to save it.`);
    if (!tried.changes.length) return this.#refuse(`There are no changes to save. Press ${nameControl("cancel")} to cancel.`);
    const state = { ...this.statusOf(this.at), last: follows };
    this.editing = null;
    this.#record(state, { kind: "edit", changes, said }, now);
    this.say(`Edited ${this.at}: ${isolate(said.replace(/\.$/, ""))}. Press ${nameControl("undo")} to undo.`);
    this.show(now);
    return true;
  }

  /** @param {string} name */
  #openDraft(name) {
    if (name === this.name || !this.drafts.includes(name)) return false;
    Object.assign(this, { name, list: null, at: null, position: null, near: 0 });
    this.say(`Opening ${name} ...`);
    return true;
  }

  // Changes the filter; fields missing in `parts` stay as they are.
  /** @param {Action & { parts?: Partial<Listing> }} action */
  #changeFilter({ parts }) {
    this.list = { ...ALL, ...this.list, ...parts, number: null };
    Object.assign(this, { ids: [], at: null, position: null, near: 0, asking: null, total: 0, agent: "", half: null, ended: false });
    this.playback.open(null, 0);
    return true;
  }

  /** @param {number} by @param {number} now */
  #step(by, now) {
    const to = this.position === null ? this.near : this.position + by;
    this.asking = null;
    if (this.ended && by < 0) return this.#goTo(this.at, now);
    if (to < 0) this.say("This is the first candidate of the list.");
    else if (to >= this.total) this.say(this.#describeEnd());
    else if (this.ids[to] === undefined) this.say("Loading ...");
    else {
      this.say("");
      return this.#goTo(this.ids[to], now);
    }
    return this.lacks;
  }

  /** @param {string} id @param {number} now */
  #goTo(id, now) {
    this.asking = null;
    this.ended = false;
    this.warning = this.agent = "";
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
    if (!state || !this.candidate) return this.#refuse("This candidate is still loading.");
    if (this.ended) return this.#refuse(this.#describeEnd());
    const why = refusal(state, kind, this.at, this.draft.parent);
    if (why) return this.#refuse(why);
    const { fault } = this.candidate;
    if (kind === "accept" && fault && !this.#isWarned(`${this.at} ${fault}`))
      return this.#refuse(`${this.at} does not fit: ${isolate(fault)}. Press ${nameControl("accept")} again to accept it, or ${nameControl("edit")} to edit it.`);
    if (kind === "accept") return this.#record(state, { kind }, now);
    this.asking = kind;
    const how = isTouch() ? "Choose or write a reason" : `Press 1 to ${WHY[kind].length}, or 0 or Enter for another reason`;
    this.say(`Why is it ${PAST[kind].toLowerCase()}? ${how}.`);
    return false;
  }

  #refuse(text) {
    this.say(text, "warning");
    return false;
  }

  // `at` is an index of WHY; another number opens a field for another reason, which arrives as `text`.
  /** @param {Action} action @param {number} now */
  #giveReason({ at, text }, now) {
    if (!this.asking) return false;
    const reason = text === undefined ? WHY[this.asking][at] : text.trim();
    if (!reason) return text === undefined ? false : this.#refuse(isTouch() ? "Write a reason first." : "Type a reason first, or press Esc.");
    const [kind, state] = [this.asking, this.statusOf(this.at)];
    this.asking = null;
    const why = refusal(state, kind, this.at, this.draft.parent, reason);
    return why ? this.#refuse(why) : this.#record(state, { kind, reason }, now);
  }

  /** @param {Status} state @param {Partial<Decision>} what @param {number} now */
  #record(state, what, now, candidate = this.at, said = "") {
    /** @type {Decision} */
    const decision = { uuid: uuid(this.random), draft: this.draft.id, candidate, kind: "", follows: state.last, ...what };
    this.outbox.put(decision);
    this.asking = null;
    const why = what.reason ? `: ${isolate(what.reason)}` : "";
    this.say(said || `${PAST[what.kind]} ${candidate}${why}. Press ${nameControl("undo")} to undo.`);
    if (what.kind !== "undo" && what.kind !== "edit") this.#advance(now);
    return true;
  }

  /** @param {number} now */
  #advance(now) {
    if (this.position === null) return;
    const next = this.ids[this.position + 1];
    if (next !== undefined) this.#goTo(next, now);
    else if (this.position + 1 === this.total) {
      this.ended = true;
      this.say(`${this.message.text} ${this.#describeEnd()}`);
    }
  }

  #describeEnd() {
    const { elsewhere } = this;
    const rest = elsewhere === null ? "" : ` Elsewhere: ${count(elsewhere, "undecided candidate")}${elsewhere ? `. ${isTouch() ? "The filter has" : "Press F to choose"} them.` : "."}`;
    return `That was the last candidate of this list.${rest}`;
  }

  // Returns true if the same warning was given before.
  /** @param {string} warning */
  #isWarned(warning) {
    const again = this.warning === warning;
    this.warning = again ? "" : warning;
    return again;
  }

  // Undoes the curator's latest decision in force, and displays its candidate.
  /** @param {number} now */
  #undo(now) {
    const stack = [...this.undoable].reverse();
    for (const one of this.outbox.all()) {
      if ((one.kind === "rating" || one.about === "rating") !== this.blind) continue;
      if (one.kind === "undo") stack.splice(stack.findIndex((s) => s.uuid === one.undoes), 1);
      else stack.push(one);
    }
    const last = stack.at(-1);
    const state = last && this.statusOf(last.candidate);
    if (!state) return this.#refuse("You have no decision to undo.");
    if (!this.blind && state.standing.at(-1)?.[0] !== last.uuid)
      return this.#refuse(`${state.by} has decided ${last.candidate} since; your decision cannot be undone.`);
    const what = this.blind ? { about: "rating" } : {};
    this.#record(state, { kind: "undo", undoes: last.uuid, ...what }, now, last.candidate);
    this.say(`Undone: ${PAST[last.kind].toLowerCase()} ${last.candidate}.`);
    this.#goTo(last.candidate, now);
    return true;
  }
}
