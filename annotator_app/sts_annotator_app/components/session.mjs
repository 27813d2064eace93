// An annotator's session: current episode, queue and history. It is independent of the document;
// times are milliseconds, and input arrives as named actions.

import { count, decode } from "../../../sts/viewer/episode.mjs";
import { isTouch, namerOf } from "../../../sts/viewer/keys.mjs";
import { uuid } from "./outbox.mjs";
import { viewOf } from "../../../sts/viewer/playback.mjs";
import { CONTROLS, REASONS, VERDICTS, askReason, inWords, nameVerdicts } from "../../../sts/viewer/verdicts.mjs";

const NEEDS_PICTURE = new Set(["success", "failure", "not_done"]); // verdicts that require a displayed frame
const MAX_HISTORY = 20; // answers that can be corrected
const MAX_PENDING = 200; // actions that can wait for a picture
const nameControl = namerOf({ ...CONTROLS, submit: ["Enter", "Submit"] });
const confirm = () => `Press ${nameControl("submit")} to submit or ${nameControl("undo")} to remove it.`;

/** @param {Episode} episode @returns {Visit} */
const startVisit = (episode, frame) => ({
  ...viewOf(episode, frame),
  mark: null, // {verdict, step, reason}
  corrects: null,
  spent: 0, // milliseconds of work
});

// An answer given before a reload, for corrections.
function restoreVisit(episode, { uuid: sent, mark }) {
  return { ...startVisit(episode, episode.takeover + (mark.step ?? 0)), mark, sent };
}

export const describeWayOut = () => `Press ${nameControl("cannot_judge")}, choose a reason, then press ${nameControl("submit")} to continue.`;

export class Session {
  /** @param {{ outbox: import("./outbox.mjs").Outbox, playback: import("../../../sts/viewer/playback.mjs").Playback,
   *   visits: import("./visits.mjs").Visits, random: (array: Uint8Array) => Uint8Array }} how */
  constructor({ outbox, visits, random, playback }) {
    this.outbox = outbox;
    this.visits = visits;
    this.random = random;
    this.playback = playback;
    playback.say = (text) => this.say(text);
    /** @type {Episode[]} */
    this.queue = [];
    /** @type {Visit | null} */
    this.visit = null;
    /** @type {Visit | null} */
    this.interrupted = null; // the visit interrupted by a correction
    /** @type {Visit[]} */
    this.history = [];
    /** @type {(Ack & { text: string })[]} */
    this.rejections = [];
    /** @type {Action[]} */
    this.pending = []; // actions waiting for the current picture, in order
    /** @type {Counts | null} */
    this.counts = null;
    this.say("");
    this.help = false;
    this.guideline = false;
    this.damaged = new Set();
    /** @type {Round | null} */
    this.training = null;
    this.lacks = false; // the server has more episodes to send
  }

  // Ids of the episodes that the server need not send again.
  get held() {
    return [this.visit, this.interrupted].flatMap((visit) => visit?.episode ?? []).concat(this.queue).map((one) => one.id);
  }

  // Handles data of the server. Its queue replaces ours, except for episodes answered since; null
  // keeps ours. Episodes that are here already may be sent as their id alone.
  /** @param {Judged} data @param {number} now */
  receive({ acks, queue, more = false, training, counts, previous = [] }, now) {
    for (const ack of this.outbox.settle(acks)) this.#handleAck(ack);
    const inHand = [this.visit, this.interrupted].map((visit) => visit?.episode.id);
    const here = new Map(this.queue.map((episode) => [episode.id, episode]));
    this.lacks = more;
    if (queue) this.queue = [];
    for (const one of queue ?? []) {
      if (inHand.includes(one.id) || this.outbox.holds(one.id)) continue;
      if (here.has(one.id)) this.queue.push(here.get(one.id));
      else if ("steps" in one) this.queue.push(...this.#tryDecode(one));
      else this.lacks = true;
    }
    if (!this.history.length)
      this.history = previous.flatMap((one) => this.#tryDecode(one.episode).map((episode) => restoreVisit(episode, one)));
    this.counts = counts ?? this.counts;
    if (training !== undefined) this.training = training;
    if (!this.visit) {
      this.queue.sort((a, b) => this.visits.savedAt(b.id) - this.visits.savedAt(a.id)); // started before a reload
      this.#next(now);
    }
    if (previous.length) this.#resumeCorrection(now);
  }

  /** @param {Ack & { item?: string }} ack */
  #handleAck(ack) {
    if (ack.status === "training") this.#showFeedback(ack);
    if (ack.status !== "rejected") return this.visits.forget(ack.item);
    const entry = this.history.find((visit) => visit.sent === ack.uuid);
    this.rejections.push({ ...ack, text: entry?.episode.instruction.text ?? "" });
  }

  // Displays the feedback on a training answer until Enter.
  /** @param {Ack} ack */
  #showFeedback(ack) {
    if (this.visit?.sent === ack.uuid) this.visit.answer = ack;
    this.say(`${ack.message}${this.visit?.answer ? ` Press ${isTouch() ? "“Continue”" : "Enter"} to continue.` : ""}`, ack.truth === this.visit?.mark?.verdict ? "info" : "warning");
  }

  // Resumes a correction that was started before a reload.
  #resumeCorrection(now) {
    for (const visit of this.history) {
      const begun = { ...visit, corrects: visit.sent, watched: new Set() };
      if (this.outbox.holds(visit.episode.id) || !this.visits.restore(begun)) continue;
      this.#correct(visit, now);
      Object.assign(visit, { frame: begun.frame, mark: begun.mark, spent: begun.spent, watched: begun.watched });
      return this.#show(visit, now);
    }
  }

  // Returns the episode in a list; empty if it cannot be decoded, which is reported once.
  /** @param {Payload} payload */
  #tryDecode(payload) {
    try {
      return [decode(payload)];
    } catch (/** @type {any} */ error) {
      if (!this.damaged.has(payload.id)) this.say(`Skipped an episode that cannot be displayed: ${error.message}`, "error");
      this.damaged.add(payload.id);
      return [];
    }
  }

  say(text, tone = "info") {
    this.message = { text, tone };
  }

  // True if a reason is required.
  get reasons() {
    return this.visit?.mark?.verdict === "cannot_judge";
  }

  spend(milliseconds) {
    if (this.visit) this.visit.spent += milliseconds;
  }

  /** @param {Visit | null} visit @param {number} now */
  #show(visit, now) {
    this.visit = visit;
    this.playback.open(visit, now, !visit?.corrects);
  }

  #next(now) {
    const visit = this.interrupted ?? (this.queue.length ? startVisit(this.queue.shift()) : null);
    const kept = visit && !this.interrupted && this.visits.restore(visit);
    this.interrupted = null;
    this.#show(visit, now);
    if (kept && visit.mark) this.say(`Restored: ${inWords(visit.mark)}. ${confirm()}`);
    else if (visit && !this.message.text) this.#greet();
  }

  // Says what to do first, which depends on whether the episode plays by itself.
  #greet() {
    const begin = this.playback.playing ? "Watch it play." : `Press ${nameControl("play")} to watch it.`;
    const [success, failure, neither] = nameVerdicts();
    const more = isTouch() ? "" : " ? lists all shortcuts.";
    this.say(`${begin} Press ${success} or ${failure} at the step where it comes, or ${neither}; then ${nameControl("submit")}.${more}`);
  }

  // Stores the unfinished visits in the browser.
  keep(at = Date.now()) {
    this.visits.keep(this.visit, at);
    this.visits.keep(this.interrupted, at);
  }

  // ---- input

  // Performs an action; returns true if there is something to send.
  /** @param {Action} action @param {number} now */
  act(action, now) {
    if (action.name === "help") this.help = !this.help;
    else if (action.name === "guideline") this.guideline = !this.guideline;
    else if (action.name === "cancel") this.#cancel(now);
    else if (this.pending.length) this.#postpone(action);
    else return this.#perform(action, now);
    return false;
  }

  // Called when a picture was decoded or failed: performs the waiting actions in order, until one has
  // to wait again. Returns true if there is something to send.
  arrived(now) {
    this.playback.arrived();
    let sending = false;
    while (this.pending.length && !this.#mustWait(this.pending[0])) {
      const { visit } = this;
      sending = this.#perform(this.pending.shift(), now) || sending;
      if (this.visit !== visit) this.#forgetPending();
    }
    return sending;
  }

  /** @param {Action} action */
  #mustWait({ name }) {
    return NEEDS_PICTURE.has(name) && this.playback.picture === "coming";
  }

  #postpone(action) {
    if (this.pending.length < MAX_PENDING) this.pending.push(action);
    const discard = isTouch() ? "" : " Press Esc to discard them.";
    this.say(`Loading pictures. Your presses take effect when they are here.${discard}`);
  }

  // Keys after Enter were pressed before anything of the next episode was visible.
  #forgetPending() {
    const { length } = this.pending;
    this.pending = [];
    if (length) this.say(`${this.message.text} Later presses were discarded, since this episode was not visible yet.`);
  }

  /** @param {Action} action @param {number} now @returns {boolean} */
  #perform(action, now) {
    const { name } = action;
    if (name === "previous" && !this.visit?.episode.training) this.#previous(now);
    else if (this.playback.act(action, now) || !this.visit) return false;
    else if (this.visit.episode.training && this.visit.sent) this.#afterTraining(name, now);
    else if (this.#mustWait(action)) this.#postpone(action);
    else if (NEEDS_PICTURE.has(name) && this.playback.picture === "broken")
      this.#rejectVerdict(`Not marked: this episode cannot be displayed. ${describeWayOut()}`);
    else if (name === "success" || name === "failure") this.#mark(name);
    else if (name === "not_done") this.#notDone();
    else if (name === "cannot_judge") this.#cannotJudge();
    else if (name === "reason" && this.reasons) this.#giveReason(action);
    else if (name === "undo") this.#undo();
    else if (name === "submit") return this.#submit(now);
    return false;
  }

  // A training answer is final; Enter continues after the feedback.
  #afterTraining(name, now) {
    if (name === "submit" && this.visit.answer) this.#next(now);
    else if (!this.visit.answer) this.say("Comparing your answer with the known verdict ...");
  }

  // A rejected verdict also removes the previous one, which the annotator no longer means.
  #rejectVerdict(text) {
    this.say(this.visit.mark ? `${text} The previous marker was removed.` : text, "warning");
    this.visit.mark = null;
  }

  /** @param {"success" | "failure"} verdict */
  #mark(verdict) {
    const { step } = this.playback;
    if (step < 1)
      return this.#rejectVerdict(
        `Not marked: only the continuation is judged. Press ${nameControl("takeover")}, then move at least one step forward.`,
      );
    this.playback.stop();
    this.visit.mark = { verdict, step, reason: null };
    this.say(`${VERDICTS[verdict]} marked at step ${step}. ${confirm()}`);
  }

  #notDone() {
    const { visit } = this;
    this.playback.stop();
    visit.mark = { verdict: "not_done", step: null, reason: null };
    const unseen = visit.episode.length - visit.watched.size;
    const rest = `${count(unseen, "step")} of the continuation not watched yet`;
    if (unseen > 0) this.say(`Not completed, but ${rest}. Press ${nameControl("submit")} to submit anyway.`, "warning");
    else this.say(`Not completed. ${confirm()}`);
  }

  #cannotJudge() {
    this.playback.stop();
    this.visit.mark = { verdict: "cannot_judge", step: null, reason: this.visit.mark?.reason ?? null };
    this.say(`Can't judge: ${askReason()}, then press ${nameControl("submit")}.`);
  }

  // `at` is an index of REASONS; the number after the last opens a field for another reason, `text`.
  /** @param {Action} action */
  #giveReason({ at, text }) {
    if (text === undefined && !(at in REASONS)) return;
    this.visit.mark = { ...this.visit.mark, reason: text === undefined ? REASONS[at] : text.trim() || null };
  }

  #undo() {
    this.say(this.visit.mark ? "Marker removed." : "There is no marker to remove.");
    this.visit.mark = null;
  }

  #submit(now) {
    const { visit } = this;
    const { mark } = visit;
    if (!mark) this.say(`No verdict yet: press one of ${nameVerdicts().join(", ")}.`, "warning");
    else if (mark.verdict === "cannot_judge" && !mark.reason) this.say(`No reason yet: ${askReason()}.`, "warning");
    else return this.#send(visit, mark, now);
    return false;
  }

  /** @param {Visit} visit @param {Mark} mark @param {number} now */
  #send(visit, mark, now) {
    const submission = {
      uuid: uuid(this.random),
      item: visit.episode.id,
      verdict: mark.verdict,
      step: mark.step,
      reason: mark.reason,
      seconds: Math.round(visit.spent / 100) / 10,
      watched: Math.round(this.playback.watchedShare * 1000) / 1000,
      corrects: visit.corrects,
      ...(visit.episode.training && { training: true }),
    };
    this.outbox.put(submission);
    visit.sent = submission.uuid;
    if (visit.episode.training) {
      this.#afterTraining("", now);
      return true;
    }
    this.history = [...this.history.filter((old) => old !== visit), visit].slice(-MAX_HISTORY);
    this.say(`${visit.corrects ? "Corrected" : "Submitted"}: ${inWords(mark)}. Press ${nameControl("previous")} to go back to it.`);
    this.#next(now);
    return true;
  }

  #previous(now) {
    const at = this.visit?.corrects ? this.history.indexOf(this.visit) : this.history.length;
    const visit = this.history[at - 1];
    if (!visit) return this.say("There is no earlier answer to correct.");
    this.#abandonCorrection();
    this.#correct(visit, now);
  }

  /** @param {Visit} visit @param {number} now */
  #correct(visit, now) {
    if (!this.visit?.corrects) this.interrupted = this.visit;
    visit.corrects = visit.sent;
    visit.before = visit.mark;
    this.#show(visit, now);
    this.say(`Your answer was: ${inWords(visit.mark)}. Choose a new verdict, then press ${isTouch() ? "“Submit correction”" : "Enter"}.`);
  }

  #abandonCorrection() {
    if (!this.visit?.corrects) return;
    this.visit.mark = this.visit.before;
    this.visits.forget(this.visit.episode.id);
  }

  #cancel(now) {
    if (this.rejections.length) this.rejections = [];
    else if (this.help) this.help = false;
    else if (this.pending.length) {
      this.pending = [];
      this.say("The presses are discarded.");
    } else if (this.visit?.corrects) {
      this.#abandonCorrection();
      this.say("No changes made.");
      this.#next(now);
    } else if (this.reasons) this.#undo();
  }
}
