// The annotator's desk: what is in hand, what waits, what was decided. Knows no document; time
// comes in as milliseconds and everything a person does as a named action.

import { count, decode } from "./episode.mjs";
import { uuid } from "./outbox.mjs";

export const SPEEDS = [1, 2, 4, 6, 8, 12, 16, 24, 30]; // steps a second
export const REASONS = [
  "the instruction can be read in more than one way",
  "the instruction does not fit the situation",
  "I cannot tell what happened",
];
export const VERDICTS = {
  success: "Success",
  failure: "Failure",
  not_done: "Not done",
  cannot_judge: "Cannot judge",
};
const UNSEEN = new Set(["cannot_judge", "reason", "undo", "submit"]); // what can be done with an episode not seen
const REMEMBERED = 20; // episodes that B can go back through

const visitOf = (episode) => ({
  episode,
  frame: 0,
  mark: null, // {verdict, step, reason}
  corrects: null,
  watched: new Set(), // continuation frames that were shown
  spent: 0, // milliseconds, the page being visible
});

const describe = ({ verdict, step }) => `${VERDICTS[verdict]}${step ? ` at step ${step}` : ""}`;

// A judgement of an earlier page, so that B can correct it here.
function remembered(episode, { uuid: sent, mark }) {
  return { ...visitOf(episode), frame: episode.takeover + (mark.step ?? 0), mark, sent };
}

export class Desk {
  // `ready` says whether a frame of an episode can be shown by now; until then nothing is marked.
  constructor({ outbox, random, settings = {}, ready = () => true }) {
    Object.assign(this, { outbox, random, ready });
    this.speed = SPEEDS.includes(settings.speed) ? settings.speed : 8;
    this.autoplay = settings.autoplay ?? true;
    this.queue = [];
    this.visit = null;
    this.waiting = null; // the visit that a correction interrupted
    this.history = [];
    this.refused = [];
    this.counts = null;
    this.say("Play with Space, go to the moment, press S or F, then Enter. ? shows all keys.");
    this.playing = false;
    this.lastTick = 0;
    this.help = false;
    this.damaged = new Set();
  }

  // Takes what the server sent. Its queue is the truth, but for what this page has answered since;
  // a queue of null says nothing about it.
  receive({ acks, queue, counts, previous = [] }, now) {
    for (const ack of this.outbox.settle(acks)) {
      const entry = this.history.find((visit) => visit.sent === ack.uuid);
      this.refused.push({ ...ack, text: entry?.episode.instruction.text ?? "" });
    }
    const inHand = [this.visit, this.waiting].map((visit) => visit?.episode.id);
    if (queue) this.queue = [];
    for (const payload of queue ?? [])
      if (!inHand.includes(payload.id) && !this.outbox.holds(payload.id)) this.queue.push(...this.#decoded(payload));
    if (!this.history.length)
      this.history = previous.flatMap((one) => this.#decoded(one.episode).map((episode) => remembered(episode, one)));
    this.counts = counts ?? this.counts;
    if (!this.visit) this.#next(now);
  }

  // The one episode, or none where it cannot be shown, which is said once.
  #decoded(payload) {
    try {
      return [decode(payload)];
    } catch (error) {
      if (!this.damaged.has(payload.id)) this.say(`Left out, it cannot be shown: ${error.message}`, "error");
      this.damaged.add(payload.id);
      return [];
    }
  }

  say(text, tone = "info") {
    this.message = { text, tone };
  }

  // ---- what is shown

  get frame() {
    return this.visit?.frame ?? 0;
  }

  get step() {
    return this.visit ? this.visit.frame - this.visit.episode.takeover : 0;
  }

  // A reason is asked for.
  get reasons() {
    return this.visit?.mark?.verdict === "cannot_judge";
  }

  get watchedShare() {
    return this.visit ? this.visit.watched.size / this.visit.episode.length : 0;
  }

  go(frame, now) {
    const { visit } = this;
    if (!visit) return;
    visit.frame = Math.max(0, Math.min(visit.episode.steps, frame));
    if (visit.frame > visit.episode.takeover) visit.watched.add(visit.frame);
    this.lastTick = now;
  }

  // Called at every repaint: moves on by one frame at most, so no frame is ever skipped unseen.
  tick(now) {
    if (this.playing && !this.ready(this.visit.episode, this.visit.frame)) this.lastTick = now;
    if (!this.playing || now - this.lastTick < 1000 / this.speed) return false;
    const due = this.lastTick + 1000 / this.speed;
    this.go(this.visit.frame + 1, now);
    this.lastTick = Math.max(due, now - 1000 / this.speed);
    if (this.visit.frame === this.visit.episode.steps) this.playing = false;
    return true;
  }

  spend(milliseconds) {
    if (this.visit) this.visit.spent += milliseconds;
  }

  #play(now) {
    const { visit } = this;
    if (visit.frame === visit.episode.steps) this.go(visit.episode.takeover, now);
    this.playing = true;
    this.lastTick = now;
  }

  #show(visit, now) {
    this.visit = visit;
    this.playing = false;
    if (visit && this.autoplay && visit.frame === 0 && !visit.corrects) this.#play(now);
  }

  #next(now) {
    const visit = this.waiting ?? (this.queue.length ? visitOf(this.queue.shift()) : null);
    this.waiting = null;
    this.#show(visit, now);
  }

  // ---- what a person does

  act(action, now) {
    if (action.name === "help") this.help = !this.help;
    else if (action.name === "cancel") this.#cancel(now);
    else if (action.name === "previous") this.#previous(now);
    else if (action.name === "autoplay") this.#toggleAutoplay();
    else if (action.name === "slower" || action.name === "faster") this.#changeSpeed(action.name);
    else if (this.visit) return this.#actOnVisit(action, now);
    return false;
  }

  #actOnVisit({ name, by = 1, frame = 0, reason }, now) {
    const { visit } = this;
    const { episode } = visit;
    if (!this.ready(episode, visit.frame) && !UNSEEN.has(name)) return this.say("One moment: the pictures are on their way.") ?? false;
    const jump = (to) => {
      this.playing = false;
      this.go(to, now);
    };
    const acts = {
      play: () => (this.playing ? (this.playing = false) : this.#play(now)),
      back: () => jump(visit.frame - by),
      forward: () => jump(visit.frame + by),
      seek: () => jump(frame),
      start: () => jump(0),
      end: () => jump(episode.steps),
      takeover: () => jump(episode.takeover),
      earlier: () => this.#toUtterance(jump, (u) => u.frame < visit.frame, -1),
      later: () => this.#toUtterance(jump, (u) => u.frame > visit.frame, 0),
      success: () => this.#mark("success"),
      failure: () => this.#mark("failure"),
      not_done: () => this.#notDone(),
      cannot_judge: () => this.#cannotJudge(),
      reason: () => this.reasons && this.#giveReason(reason),
      undo: () => this.#undo(),
      submit: () => this.#submit(now),
    };
    return acts[name]?.() ?? false;
  }

  #toUtterance(jump, wanted, at) {
    const found = this.visit.episode.utterances.filter(wanted).at(at);
    if (found) jump(found.frame);
    else this.say(at < 0 ? "Nothing was said before this step." : "Nothing is said after this step.");
  }

  #mark(verdict) {
    const { visit, step } = this;
    if (step < 1)
      return this.say(
        "Not marked: only the continuation is judged. Press T for the takeover, then go on at least one step.",
        "warning",
      );
    this.playing = false;
    visit.mark = { verdict, step, reason: null };
    this.say(`${VERDICTS[verdict]} marked at step ${step}. Enter submits, U takes it away.`);
  }

  #notDone() {
    const { visit } = this;
    this.playing = false;
    visit.mark = { verdict: "not_done", step: null, reason: null };
    const unseen = visit.episode.length - visit.watched.size;
    const rest = `${count(unseen, "step")} of the continuation not yet seen`;
    if (unseen > 0) this.say(`Not done chosen, but ${rest}. Enter submits.`, "warning");
    else this.say("Not done chosen. Enter submits, U takes it away.");
  }

  #cannotJudge() {
    this.playing = false;
    this.visit.mark = { verdict: "cannot_judge", step: null, reason: this.visit.mark?.reason ?? null };
    this.say("Cannot judge: say why with 1 to 4, then Enter.");
  }

  #giveReason(reason) {
    if (typeof reason === "number" && !(reason in REASONS)) return; // 4: the page opens a text field
    const text = typeof reason === "number" ? REASONS[reason] : reason.trim() || null;
    this.visit.mark = { ...this.visit.mark, reason: text };
  }

  #undo() {
    this.say(this.visit.mark ? "The mark is taken away." : "There is no mark to take away.");
    this.visit.mark = null;
  }

  #submit(now) {
    const { visit } = this;
    const { mark } = visit;
    if (!mark) return this.say("Nothing chosen yet: S success, F failure, N not done, X cannot judge.", "warning");
    if (mark.verdict === "cannot_judge" && !mark.reason)
      return this.say("Say why it cannot be judged first: 1 to 4.", "warning");
    const submission = {
      uuid: uuid(this.random),
      item: visit.episode.id,
      verdict: mark.verdict,
      step: mark.step,
      reason: mark.reason,
      seconds: Math.round(visit.spent / 100) / 10,
      watched: Math.round(this.watchedShare * 1000) / 1000,
      corrects: visit.corrects,
    };
    this.outbox.put(submission);
    visit.sent = submission.uuid;
    this.history = [...this.history.filter((old) => old !== visit), visit].slice(-REMEMBERED);
    this.say(`${visit.corrects ? "Corrected" : "Submitted"}: ${describe(mark)}. B goes back to it.`);
    this.#next(now);
    return true;
  }

  #previous(now) {
    const at = this.visit?.corrects ? this.history.indexOf(this.visit) : this.history.length;
    const visit = this.history[at - 1];
    if (!visit) return this.say("There is nothing earlier to correct on this page.");
    this.#leaveCorrection();
    if (!this.visit?.corrects) this.waiting = this.visit;
    visit.corrects = visit.sent;
    visit.before = visit.mark;
    this.#show(visit, now);
    this.say(`Your answer was: ${describe(visit.mark)}. Mark anew, then Enter.`);
  }

  #leaveCorrection() {
    if (this.visit?.corrects) this.visit.mark = this.visit.before;
  }

  #cancel(now) {
    this.refused = [];
    if (this.help) this.help = false;
    else if (this.visit?.corrects) {
      this.#leaveCorrection();
      this.say("Left as it was.");
      this.#next(now);
    } else if (this.reasons) this.#undo();
  }

  #toggleAutoplay() {
    this.autoplay = !this.autoplay;
    this.say(this.autoplay ? "Episodes start by themselves." : "Episodes wait for Space.");
  }

  #changeSpeed(name) {
    const at = SPEEDS.indexOf(this.speed) + (name === "faster" ? 1 : -1);
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))];
    this.say(`${count(this.speed, "step")} a second.`);
  }
}
