// A reviewer's session: selected queue, current clip and history. It is independent of the document;
// times are milliseconds, and input arrives as named actions.

import { decode } from "../../../sts/viewer/episode.mjs";
import { isTouch, namerOf } from "../../../sts/viewer/keys.mjs";
import { uuid } from "./outbox.mjs";
import { viewOf } from "../../../sts/viewer/playback.mjs";
import { CONTROLS, REASONS, askReason, inWords, nameVerdicts } from "../../../sts/viewer/verdicts.mjs";

export const QUEUES = ["disputes", "failures", "differences"];
const MARKING = new Set(["success", "failure", "not_done"]); // verdicts that require a displayed frame
const REMEMBERED_CASES = 20; // decisions that can be revised
const nameControl = namerOf({ ...CONTROLS, decide: ["Enter", "Decide"], save: ["Enter", "Save"], skip: ["Enter", "Skip"], leave: ["O", "Skip"], words: ["E", "Comment"] });

/** @param {ReviewCase} one @returns {Review} */
const reviewOf = ({ episode, ...rest }) => ({
  ...viewOf(decode(episode)),
  ...rest,
  mark: null,
  errorType: null,
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
    // Separate for each queue, since a clip may be in two.
    this.visits = Object.fromEntries(QUEUES.map((name) => [name, visits(name)]));
    this.random = random;
    this.playback = playback;
    playback.say = (text) => this.say(text);
    this.queue = QUEUES.includes(queue) ? queue : QUEUES[0];
    /** @type {Record<string, QueueProgress> | null} */
    this.queues = null;
    /** @type {[name: string, source: string, meaning: string][]} */
    this.errors = [];
    /** @type {ReviewCase[]} */
    this.cases = []; // next in the queue
    /** @type {Review | null} */
    this.visit = null;
    /** @type {Record<string, Review | null>} */
    this.aside = {}; // unfinished visits of the other queues, or from before going back
    /** @type {(Review & { queue: string })[]} */
    this.history = [];
    /** @type {{ message: string }[]} */
    this.rejections = [];
    /** @type {string[]} */
    this.news = [];
    this.meanwhile = "";
    this.again = false; // skipped clips are shown again
    this.leaving = false; // the reviewer is asked why they skip the clip
    this.help = false;
    this.guideline = false;
    this.greet();
  }

  get classifies() {
    return this.queue === "failures";
  }

  // True if a reason is required.
  get reasons() {
    return !this.classifies && this.visit?.mark?.verdict === "cannot_judge";
  }

  get asks() {
    return { queue: this.queue, at: this.visit?.episode.id ?? null, again: this.again };
  }

  greet() {
    const own = isTouch() ? "choose your own" : "choose your own with S, F, N or X";
    const number = isTouch() ? "Choose an error type, then press “Save”." : "Press a number, then Enter. Press E to add a comment.";
    this.say(this.classifies ? number : `Compare the verdicts, ${own}, then press ${nameControl("decide")}.`);
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

  // Handles data of the server; cases of null keep the queue.
  /** @param {ReviewData} data @param {number} now */
  receive({ acks, cases, queue, queues, errors, news, meanwhile }, now) {
    for (const ack of this.outbox.settle(acks)) if (ack.status === "rejected") this.rejections.push({ message: ack.message });
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
        return this.#showRestored(reviewOf(one), now);
      } catch (/** @type {any} */ error) {
        this.say(`Skipped a clip that cannot be displayed: ${error.message}`, "error");
      }
    }
    this.#show(null, now);
  }

  // Displays a case, with the unfinished visit from before a reload.
  /** @param {Review} visit @param {number} now */
  #showRestored(visit, now) {
    const kept = this.visits[this.queue].restore(visit);
    if (!this.errors.some(([name]) => name === visit.errorType)) visit.errorType = null;
    this.#show(visit, now);
    const chosen = visit.mark ? inWords(visit.mark) : visit.errorType?.replaceAll("_", " ");
    if (kept && chosen) this.say(`Restored: ${chosen}. ${this.#confirm()}`);
  }

  // Stores the unfinished visits in the browser, except revisions.
  keep(at = Date.now()) {
    for (const name of QUEUES) {
      const hand = name === this.queue ? this.visit : null;
      for (const visit of [this.aside[name], hand]) if (visit && !visit.corrects) this.visits[name].keep(visit, at);
    }
  }

  // ---- input

  // Performs an action; returns true if there is something to send or request.
  /** @param {Action} action @param {number} now @returns {boolean} */
  act(action, now) {
    const { name } = action;
    if (name === "help") this.help = !this.help;
    else if (name === "guideline") this.guideline = !this.guideline;
    else if (name === "cancel") this.#cancel(now);
    else if (name === "queue") return this.#openQueue(action.text ?? this.#nextQueue(), now);
    else if (name === "again") return this.#showAgain();
    else if (name === "previous") return this.#previous(now);
    else if (this.playback.act(action, now) || !this.visit) return false;
    else if (name === "words") this.visit.words = action.text ?? this.visit.words;
    else if (name === "leave") this.leaving ? this.#cancel(now) : this.#askWhySkip();
    else if (name === "undo") this.#undo();
    else if (name === "submit") return this.#submit(now);
    else if (name === "reason" || name === "error_type") this.#chooseNumber(action);
    else if (!this.classifies) this.#judge(name);
    return false;
  }

  #nextQueue() {
    return QUEUES[(QUEUES.indexOf(this.queue) + 1) % QUEUES.length];
  }

  #openQueue(queue, now) {
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
    this.say("Showing skipped clips again.");
    return true;
  }

  #judge(name) {
    const { picture, step } = this.playback;
    if (MARKING.has(name) && picture !== "here")
      return this.#warn(
        picture === "coming"
          ? "Not marked: the picture is still loading. Mark again when it is here."
          : `Not marked: this episode cannot be displayed. Press ${nameControl("leave")} to skip it.`,
      );
    this.playback.stop();
    if (name === "not_done") this.#setMark({ verdict: name, step: null, reason: null });
    else if (name === "cannot_judge") this.#setMark({ verdict: name, step: null, reason: this.visit.mark?.reason ?? null });
    else if (name === "success" || name === "failure") {
      if (step < 1) return this.#warn(`Not marked: only the continuation is judged. Press ${nameControl("takeover")} to go to the takeover, then move at least one step forward.`);
      this.#setMark({ verdict: name, step, reason: null });
    }
  }

  /** @param {Mark} mark */
  #setMark(mark) {
    this.visit.mark = mark;
    const asks = mark.verdict === "cannot_judge" ? `: ${askReason()}, then press ${nameControl("decide")}.` : `. ${this.#confirm()}`;
    this.say(inWords(mark) + asks);
  }

  #confirm() {
    const decide = this.classifies ? `${nameControl("save")} to save` : `${nameControl("decide")} to decide`;
    return `Press ${decide} or ${nameControl("undo")} to remove it.`;
  }

  // Chooses an error type, or a reason why the clip can't be judged.
  /** @param {Action} action */
  #chooseNumber({ name, at, text }) {
    const { visit } = this;
    if (this.classifies) {
      const error = name === "error_type" ? this.errors.find(([one]) => one === text) : this.errors[at];
      if (!error) return;
      visit.errorType = error[0];
      this.say(`${error[0].replaceAll("_", " ")}: ${error[2]}. ${this.#confirm()}`);
    } else if (this.reasons && (text !== undefined || at in REASONS))
      visit.mark = { ...visit.mark, reason: text === undefined ? REASONS[at] : text.trim() || null };
  }

  #askWhySkip() {
    this.playback.stop();
    this.leaving = true;
    this.say(`Why do you skip this clip? Type a reason, then press ${nameControl("skip")}.${isTouch() ? "" : " Press Esc to cancel."}`);
  }

  #undo() {
    const { visit } = this;
    this.say(visit.mark || visit.errorType ? "Choice removed." : "There is nothing to remove.");
    visit.mark = visit.errorType = null;
  }

  #submit(now) {
    const { visit, leaving } = this;
    const text = visit.words.trim();
    if (leaving) return text ? this.#send({ kind: "note", text }, `Skipped: ${text}.`, now) : this.#warn("Type a reason for skipping, or cancel.");
    if (this.classifies) {
      if (!visit.errorType) return this.#warn(`No error type chosen yet: ${isTouch() ? "choose one" : "press a number"}, or ${nameControl("leave")} to skip.`);
      return this.#send({ kind: "review", error_type: visit.errorType, text }, `Saved: ${visit.errorType.replaceAll("_", " ")}.`, now);
    }
    const { mark } = visit;
    if (!mark) return this.#warn(`No verdict yet: press one of ${nameVerdicts().join(", ")}, or ${nameControl("leave")} to skip.`);
    if (mark.verdict === "cannot_judge" && !mark.reason) return this.#warn(`No reason yet: ${askReason()}.`);
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
    this.say(`${words} Press ${nameControl("previous")} to go back to it.`);
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
    if (!before) return this.#warn("There is no earlier decision in this queue.");
    if (!this.visit?.corrects) this.aside[this.queue] = this.visit;
    this.#show({ ...before, spent: 0, watched: new Set(), corrects: before.episode.id }, now);
    this.say(`You decided this clip before. Choose again and press ${nameControl(this.classifies ? "save" : "decide")}.`);
    return true;
  }

  #cancel(now) {
    this.rejections = [];
    this.news = [];
    if (this.help) this.help = false;
    else if (this.leaving) {
      this.leaving = false;
      this.say("Cancelled.");
    } else if (this.visit?.corrects) {
      this.#next(now);
      this.say("No changes made.");
    } else if (this.reasons) this.#undo();
  }
}
