// A judge's session: what is in hand, what waits, what was decided. Knows no document; time comes in
// as milliseconds and everything a person does as a named action.

import { count, decode } from "../../../sts/viewer/episode.mjs";
import { uuid } from "./outbox.mjs";
import { viewOf } from "../../../sts/viewer/playback.mjs";
import { REASONS, VERDICTS, inWords } from "../../../sts/viewer/verdicts.mjs";

const SEEN = new Set(["success", "failure", "not_done"]); // what is said of a frame that was seen
const REMEMBERED = 20; // episodes that B can go back through
const MOST = 200; // keys that wait for a picture

/** @param {Episode} episode @returns {Visit} */
const visitOf = (episode, frame) => ({
  ...viewOf(episode, frame),
  mark: null, // {verdict, step, reason}
  corrects: null,
  spent: 0, // milliseconds of work
});

// A judgement of an earlier page, so that B can correct it here.
function remembered(episode, { uuid: sent, mark }) {
  return { ...visitOf(episode, episode.takeover + (mark.step ?? 0)), mark, sent };
}

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
    this.interrupted = null; // the visit that a correction interrupted
    /** @type {Visit[]} */
    this.history = [];
    /** @type {(Ack & { text: string })[]} */
    this.refused = [];
    /** @type {Action[]} */
    this.pending = []; // actions that wait for the picture in view, in the order they came
    /** @type {Counts | null} */
    this.counts = null;
    this.say("Play with Space, go to the moment, press S or F, then Enter. ? shows all keys.");
    this.help = false;
    this.guideline = false;
    this.damaged = new Set();
    /** @type {Round | null} */
    this.training = null;
    this.lacks = false; // there are episodes that the server has yet to send
  }

  // The episodes that are here, which the server need not send again.
  get held() {
    return [this.visit, this.interrupted].flatMap((visit) => visit?.episode ?? []).concat(this.queue).map((one) => one.id);
  }

  // Takes what the server sent. Its queue is the truth, but for what this page has answered since;
  // a queue of null says nothing about it. Of an episode that is here it may say the id alone.
  /** @param {Judged} data @param {number} now */
  receive({ acks, queue, more = false, training, counts, previous = [] }, now) {
    for (const ack of this.outbox.settle(acks)) this.#settle(ack);
    const inHand = [this.visit, this.interrupted].map((visit) => visit?.episode.id);
    const here = new Map(this.queue.map((episode) => [episode.id, episode]));
    this.lacks = more;
    if (queue) this.queue = [];
    for (const one of queue ?? []) {
      if (inHand.includes(one.id) || this.outbox.holds(one.id)) continue;
      if (here.has(one.id)) this.queue.push(here.get(one.id));
      else if ("steps" in one) this.queue.push(...this.#decoded(one));
      else this.lacks = true;
    }
    if (!this.history.length)
      this.history = previous.flatMap((one) => this.#decoded(one.episode).map((episode) => remembered(episode, one)));
    this.counts = counts ?? this.counts;
    if (training !== undefined) this.training = training;
    if (!this.visit) {
      this.queue.sort((a, b) => this.visits.when(b.id) - this.visits.when(a.id)); // begun by an earlier page
      this.#next(now);
    }
    if (previous.length) this.#takeUpCorrection(now);
  }

  /** @param {Ack & { item?: string }} ack */
  #settle(ack) {
    if (ack.status === "training") this.#learn(ack);
    if (ack.status !== "refused") return this.visits.forget(ack.item);
    const entry = this.history.find((visit) => visit.sent === ack.uuid);
    this.refused.push({ ...ack, text: entry?.episode.instruction.text ?? "" });
  }

  // What an answer in training comes to stands beside the episode until Enter.
  /** @param {Ack} ack */
  #learn(ack) {
    if (this.visit?.sent === ack.uuid) this.visit.answer = ack;
    this.say(`${ack.message}${this.visit?.answer ? " Enter goes on." : ""}`, ack.truth === this.visit?.mark?.verdict ? "info" : "warning");
  }

  // A correction that an earlier page had in hand goes on.
  #takeUpCorrection(now) {
    for (const visit of this.history) {
      const begun = { ...visit, corrects: visit.sent, watched: new Set() };
      if (this.outbox.holds(visit.episode.id) || !this.visits.restore(begun)) continue;
      this.#correct(visit, now);
      Object.assign(visit, { frame: begun.frame, mark: begun.mark, spent: begun.spent, watched: begun.watched });
      return this.#show(visit, now);
    }
  }

  // The one episode, or none where it cannot be shown, which is said once.
  /** @param {Payload} payload */
  #decoded(payload) {
    try {
      return [decode(payload)];
    } catch (/** @type {any} */ error) {
      if (!this.damaged.has(payload.id)) this.say(`Left out, it cannot be shown: ${error.message}`, "error");
      this.damaged.add(payload.id);
      return [];
    }
  }

  say(text, tone = "info") {
    this.message = { text, tone };
  }

  // A reason is asked for.
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
    const visit = this.interrupted ?? (this.queue.length ? visitOf(this.queue.shift()) : null);
    const kept = visit && !this.interrupted && this.visits.restore(visit);
    this.interrupted = null;
    this.#show(visit, now);
    if (kept && visit.mark) this.say(`As you left it: ${inWords(visit.mark)}. Enter submits, U takes it away.`);
  }

  // Keeps what is in hand in the browser.
  keep(at = Date.now()) {
    this.visits.keep(this.visit, at);
    this.visits.keep(this.interrupted, at);
  }

  // ---- what a person does

  // Returns whether there is something new to send.
  /** @param {Action} action @param {number} now */
  act(action, now) {
    if (action.name === "help") this.help = !this.help;
    else if (action.name === "guideline") this.guideline = !this.guideline;
    else if (action.name === "cancel") this.#cancel(now);
    else if (this.pending.length) this.#wait(action);
    else return this.#do(action, now);
    return false;
  }

  // Called when a picture has come, or has turned out to be broken: what waited is done, in order,
  // until it has to wait again. Returns whether there is something new to send.
  arrived(now) {
    this.playback.arrived();
    let sending = false;
    while (this.pending.length && !this.#mustWait(this.pending[0])) {
      const { visit } = this;
      sending = this.#do(this.pending.shift(), now) || sending;
      if (this.visit !== visit) this.#forgetPending();
    }
    return sending;
  }

  /** @param {Action} action */
  #mustWait({ name }) {
    return SEEN.has(name) && this.playback.picture === "coming";
  }

  #wait(action) {
    if (this.pending.length < MOST) this.pending.push(action);
    this.say("The pictures are on their way; what you type waits for them, in order. Esc drops it.");
  }

  // What was typed after Enter was typed before anything of the next episode could be seen.
  #forgetPending() {
    const { length } = this.pending;
    this.pending = [];
    if (length) this.say(`${this.message.text} What was typed after that is dropped: this one had not been seen.`);
  }

  /** @param {Action} action @param {number} now @returns {boolean} */
  #do(action, now) {
    const { name } = action;
    if (name === "previous" && !this.visit?.episode.training) this.#previous(now);
    else if (this.playback.act(action, now) || !this.visit) return false;
    else if (this.visit.episode.training && this.visit.sent) this.#afterTraining(name, now);
    else if (this.#mustWait(action)) this.#wait(action);
    else if (SEEN.has(name) && this.playback.picture === "broken")
      this.#refuse("Not marked: the pictures of this episode cannot be shown. X, a reason, Enter goes on.");
    else if (name === "success" || name === "failure") this.#mark(name);
    else if (name === "not_done") this.#notDone();
    else if (name === "cannot_judge") this.#cannotJudge();
    else if (name === "reason" && this.reasons) this.#giveReason(action);
    else if (name === "undo") this.#undo();
    else if (name === "submit") return this.#submit(now);
    return false;
  }

  // An answer in training stays as it is; the next episode comes once it has been looked at.
  #afterTraining(name, now) {
    if (name === "submit" && this.visit.answer) this.#next(now);
    else if (!this.visit.answer) this.say("One moment: your answer is being compared with the known one.");
  }

  // A verdict that cannot be taken leaves none: whoever gave it no longer means the one before.
  #refuse(text) {
    this.say(this.visit.mark ? `${text} The mark that was there is taken away.` : text, "warning");
    this.visit.mark = null;
  }

  /** @param {"success" | "failure"} verdict */
  #mark(verdict) {
    const { step } = this.playback;
    if (step < 1)
      return this.#refuse(
        "Not marked: only the continuation is judged. Press T for the takeover, then go on at least one step.",
      );
    this.playback.stop();
    this.visit.mark = { verdict, step, reason: null };
    this.say(`${VERDICTS[verdict]} marked at step ${step}. Enter submits, U takes it away.`);
  }

  #notDone() {
    const { visit } = this;
    this.playback.stop();
    visit.mark = { verdict: "not_done", step: null, reason: null };
    const unseen = visit.episode.length - visit.watched.size;
    const rest = `${count(unseen, "step")} of the continuation not yet seen`;
    if (unseen > 0) this.say(`Not done chosen, but ${rest}. Enter submits.`, "warning");
    else this.say("Not done chosen. Enter submits, U takes it away.");
  }

  #cannotJudge() {
    this.playback.stop();
    this.visit.mark = { verdict: "cannot_judge", step: null, reason: this.visit.mark?.reason ?? null };
    this.say("Cannot judge: say why with 1 to 4, then Enter.");
  }

  // `at` is one of REASONS; the number after the last opens a field for the person's own words, `text`.
  /** @param {Action} action */
  #giveReason({ at, text }) {
    if (text === undefined && !(at in REASONS)) return;
    this.visit.mark = { ...this.visit.mark, reason: text === undefined ? REASONS[at] : text.trim() || null };
  }

  #undo() {
    this.say(this.visit.mark ? "The mark is taken away." : "There is no mark to take away.");
    this.visit.mark = null;
  }

  #submit(now) {
    const { visit } = this;
    const { mark } = visit;
    if (!mark) this.say("Nothing chosen yet: S success, F failure, N not done, X cannot judge.", "warning");
    else if (mark.verdict === "cannot_judge" && !mark.reason)
      this.say("Say why it cannot be judged first: 1 to 4.", "warning");
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
    this.history = [...this.history.filter((old) => old !== visit), visit].slice(-REMEMBERED);
    this.say(`${visit.corrects ? "Corrected" : "Submitted"}: ${inWords(mark)}. B goes back to it.`);
    this.#next(now);
    return true;
  }

  #previous(now) {
    const at = this.visit?.corrects ? this.history.indexOf(this.visit) : this.history.length;
    const visit = this.history[at - 1];
    if (!visit) return this.say("There is nothing earlier to correct on this page.");
    this.#leaveCorrection();
    this.#correct(visit, now);
  }

  /** @param {Visit} visit @param {number} now */
  #correct(visit, now) {
    if (!this.visit?.corrects) this.interrupted = this.visit;
    visit.corrects = visit.sent;
    visit.before = visit.mark;
    this.#show(visit, now);
    this.say(`Your answer was: ${inWords(visit.mark)}. Mark anew, then Enter.`);
  }

  #leaveCorrection() {
    if (!this.visit?.corrects) return;
    this.visit.mark = this.visit.before;
    this.visits.forget(this.visit.episode.id);
  }

  #cancel(now) {
    this.refused = [];
    if (this.help) this.help = false;
    else if (this.pending.length) {
      this.pending = [];
      this.say("What waited for the pictures is dropped.");
    } else if (this.visit?.corrects) {
      this.#leaveCorrection();
      this.say("Left as it was.");
      this.#next(now);
    } else if (this.reasons) this.#undo();
  }
}
