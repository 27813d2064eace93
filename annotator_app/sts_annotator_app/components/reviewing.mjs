// A reviewer's session: which queue, what is in hand, what was decided. Knows no document; time comes
// in as milliseconds and everything a person does as a named action.

import { decode } from "../../../sts/viewer/episode.mjs";
import { uuid } from "./outbox.mjs";
import { viewOf } from "../../../sts/viewer/playback.mjs";
import { REASONS, inWords } from "../../../sts/viewer/verdicts.mjs";

export const QUEUES = ["disputes", "failures", "differences"];
const MARKING = new Set(["success", "failure", "not_done"]); // what is said of a frame that was seen
const REMEMBERED_CASES = 20; // that B can go back through

/** @param {ReviewCase} one @returns {Review} */
const reviewOf = ({ episode, ...rest }) => ({
  ...viewOf(decode(episode)),
  ...rest,
  mark: null,
  label: null,
  words: "",
  corrects: null,
  spent: 0,
});

export class Reviewing {
  /** @param {{ outbox: import("./outbox.mjs").Outbox, playback: import("../../../sts/viewer/playback.mjs").Playback,
   *   visits: (queue: string) => import("./visits.mjs").Visits, random: (array: Uint8Array) => Uint8Array,
   *   queue?: string | null }} how */
  constructor({ outbox, visits, random, playback, queue }) {
    this.outbox = outbox;
    // Of each queue: a clip may wait in two.
    this.visits = Object.fromEntries(QUEUES.map((name) => [name, visits(name)]));
    this.random = random;
    this.playback = playback;
    playback.say = (text) => this.say(text);
    this.queue = QUEUES.includes(queue) ? queue : QUEUES[0];
    /** @type {Record<string, QueueProgress> | null} */
    this.queues = null;
    /** @type {[label: string, source: string, meaning: string][]} */
    this.errors = [];
    /** @type {ReviewCase[]} */
    this.cases = []; // that follow
    /** @type {Review | null} */
    this.visit = null;
    /** @type {Record<string, Review | null>} */
    this.aside = {}; // what was in hand in each of the other queues, or before going back
    /** @type {(Review & { queue: string })[]} */
    this.history = [];
    /** @type {{ message: string }[]} */
    this.refused = [];
    /** @type {string[]} */
    this.news = [];
    this.meanwhile = "";
    this.again = false; // what was left open is shown once more
    this.leaving = false; // it is asked why this is left open
    this.help = false;
    this.guideline = false;
    this.greet();
  }

  get classifies() {
    return this.queue === "failures";
  }

  // A reason is asked for.
  get reasons() {
    return !this.classifies && this.visit?.mark?.verdict === "cannot_judge";
  }

  get asks() {
    return { queue: this.queue, at: this.visit?.episode.id ?? null, again: this.again };
  }

  greet() {
    const decide = "Look at what they say, mark what you see with S, F, N or X, then Enter.";
    this.say(this.classifies ? "Say with a number what went wrong, then Enter. E adds words." : decide);
  }

  say(text, tone = "info") {
    this.message = { text, tone };
  }

  #warn(text) {
    this.say(text, "warning");
    return false;
  }

  spend(milliseconds) {
    if (this.visit) this.visit.spent += milliseconds;
  }

  // Takes what the server sent; cases of null say nothing about the queue.
  /** @param {ReviewData} data @param {number} now */
  receive({ acks, cases, queue, queues, errors, news, meanwhile }, now) {
    for (const ack of this.outbox.settle(acks)) if (ack.status === "refused") this.refused.push({ message: ack.message });
    this.queues = queues ?? this.queues;
    this.errors = errors;
    this.news.push(...news.map(({ text }) => text));
    const item = this.visit?.episode.id;
    this.meanwhile = item && meanwhile?.item === item ? meanwhile.text : "";
    if (!cases || queue !== this.queue) return;
    this.cases = cases.filter(({ episode }) => episode.id !== item && !this.outbox.holds(episode.id));
    if (!this.visit) this.#next(now);
  }

  /** @param {Review | null} visit @param {number} now */
  #show(visit, now) {
    this.visit = visit;
    this.leaving = false;
    this.meanwhile = "";
    this.playback.open(visit, now, !visit?.corrects);
  }

  #next(now) {
    const waiting = this.aside[this.queue];
    this.aside[this.queue] = null;
    if (waiting) return this.#show(waiting, now);
    while (this.cases.length) {
      const one = this.cases.shift();
      try {
        return this.#take(reviewOf(one), now);
      } catch (/** @type {any} */ error) {
        this.say(`Left out, it cannot be shown: ${error.message}`, "error");
      }
    }
    this.#show(null, now);
  }

  // Shows a case, as an earlier page had it in hand.
  /** @param {Review} visit @param {number} now */
  #take(visit, now) {
    const kept = this.visits[this.queue].restore(visit);
    if (!this.errors.some(([label]) => label === visit.label)) visit.label = null;
    this.#show(visit, now);
    const chosen = visit.mark ? inWords(visit.mark) : visit.label?.replaceAll("_", " ");
    if (kept && chosen) this.say(`As you left it: ${chosen}. Enter decides, U takes it away.`);
  }

  // Keeps what is in hand in the browser, but for what was decided before.
  keep(at = Date.now()) {
    for (const name of QUEUES) {
      const hand = name === this.queue ? this.visit : null;
      for (const visit of [this.aside[name], hand]) if (visit && !visit.corrects) this.visits[name].keep(visit, at);
    }
  }

  // ---- what a person does

  // Returns whether there is something to send, or to ask.
  /** @param {Action} action @param {number} now @returns {boolean} */
  act(action, now) {
    const { name } = action;
    if (name === "help") this.help = !this.help;
    else if (name === "guideline") this.guideline = !this.guideline;
    else if (name === "cancel") this.#cancel(now);
    else if (name === "queue") return this.#open(action.text ?? this.#after(), now);
    else if (name === "again") return this.#showAgain();
    else if (name === "previous") return this.#previous(now);
    else if (this.playback.act(action, now) || !this.visit) return false;
    else if (name === "words") this.visit.words = action.text ?? this.visit.words;
    else if (name === "leave") this.#leave();
    else if (name === "undo") this.#undo();
    else if (name === "submit") return this.#submit(now);
    else if (name === "reason" || name === "label") this.#number(action);
    else if (!this.classifies) this.#judge(name);
    return false;
  }

  #after() {
    return QUEUES[(QUEUES.indexOf(this.queue) + 1) % QUEUES.length];
  }

  #open(queue, now) {
    if (queue === this.queue || !QUEUES.includes(queue)) return false;
    this.#stopCorrecting();
    if (!this.aside[this.queue]) this.aside[this.queue] = this.visit;
    Object.assign(this, { queue, cases: [], again: false });
    this.greet();
    this.#next(now);
    return true;
  }

  #showAgain() {
    this.again = true;
    this.say("What you left open is shown once more.");
    return true;
  }

  #judge(name) {
    const { picture, step } = this.playback;
    if (MARKING.has(name) && picture !== "here")
      return this.#warn(
        picture === "coming"
          ? "Not marked: the picture is on its way. Mark again when it is there."
          : "Not marked: the pictures of this episode cannot be shown. O leaves it open.",
      );
    this.playback.stop();
    if (name === "not_done") this.#put({ verdict: name, step: null, reason: null });
    else if (name === "cannot_judge") this.#put({ verdict: name, step: null, reason: this.visit.mark?.reason ?? null });
    else if (name === "success" || name === "failure") {
      if (step < 1) return this.#warn("Not marked: only the continuation is judged. Press T for the takeover, then go on at least one step.");
      this.#put({ verdict: name, step, reason: null });
    }
  }

  /** @param {Mark} mark */
  #put(mark) {
    this.visit.mark = mark;
    const asks = mark.verdict === "cannot_judge" ? "say why with 1 to 4, then Enter" : "Enter decides, U takes it away";
    this.say(`${inWords(mark)}: ${asks}.`);
  }

  // A number says what kind of error it is, or why it cannot be judged.
  /** @param {Action} action */
  #number({ name, at, text }) {
    const { visit } = this;
    if (this.classifies) {
      const error = name === "label" ? this.errors.find(([label]) => label === text) : this.errors[at];
      if (!error) return;
      visit.label = error[0];
      this.say(`${error[0].replaceAll("_", " ")}: ${error[2]}. Enter keeps it, U takes it away.`);
    } else if (this.reasons && (text !== undefined || at in REASONS))
      visit.mark = { ...visit.mark, reason: text === undefined ? REASONS[at] : text.trim() || null };
  }

  #leave() {
    this.playback.stop();
    this.leaving = true;
    this.say("Why is it left open? Say it in words, then Enter. Esc goes back.");
  }

  #undo() {
    const { visit } = this;
    this.say(visit.mark || visit.label ? "It is taken away." : "There is nothing to take away.");
    visit.mark = visit.label = null;
  }

  #submit(now) {
    const { visit, leaving } = this;
    const text = visit.words.trim();
    if (leaving) return text ? this.#send({ kind: "note", text }, `Left open: ${text}.`, now) : this.#warn("Say in words why it is left open, or Esc.");
    if (this.classifies) {
      if (!visit.label) return this.#warn("Nothing chosen yet: a number says what went wrong, O leaves it open.");
      return this.#send({ kind: "review", label: visit.label, text }, `Kept: ${visit.label.replaceAll("_", " ")}.`, now);
    }
    const { mark } = visit;
    if (!mark) return this.#warn("Nothing chosen yet: S success, F failure, N not done, X cannot judge, O leaves it open.");
    if (mark.verdict === "cannot_judge" && !mark.reason) return this.#warn("Say why it cannot be judged first: 1 to 4.");
    return this.#send({ kind: "adjudication", ...mark, text }, `Decided: ${inWords(mark)}.`, now);
  }

  #send(what, words, now) {
    const { visit } = this;
    this.outbox.put({
      uuid: uuid(this.random),
      item: visit.episode.id,
      seconds: Math.round(visit.spent / 100) / 10,
      watched: Math.round(this.playback.watchedShare * 1000) / 1000,
      ...what,
    });
    this.visits[this.queue].forget(visit.episode.id);
    visit.corrects = null;
    const old = this.history.filter((one) => one.episode.id !== visit.episode.id || one.queue !== this.queue);
    this.history = [...old, { ...visit, queue: this.queue }].slice(-REMEMBERED_CASES);
    this.say(`${words} B goes back to it.`);
    this.#next(now);
    return true;
  }

  #stopCorrecting() {
    if (this.visit?.corrects) this.visit = null;
  }

  #previous(now) {
    const own = this.history.filter(({ queue }) => queue === this.queue);
    const at = this.visit?.corrects ? own.findIndex(({ episode }) => episode.id === this.visit.episode.id) : own.length;
    const before = own[at - 1];
    if (!before) return this.#warn("There is nothing earlier of this queue on this page.");
    if (!this.visit?.corrects) this.aside[this.queue] = this.visit;
    this.#show({ ...before, spent: 0, watched: new Set(), corrects: before.episode.id }, now);
    this.say("You decided this one before. Decide anew, then Enter; Esc leaves it.");
    return true;
  }

  #cancel(now) {
    this.refused = [];
    this.news = [];
    if (this.help) this.help = false;
    else if (this.leaving) {
      this.leaving = false;
      this.say("Nothing decided.");
    } else if (this.visit?.corrects) {
      this.#next(now);
      this.say("Left as it was.");
    } else if (this.reasons) this.#undo();
  }
}
