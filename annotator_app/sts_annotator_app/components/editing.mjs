// An edit of a candidate in progress: each change is sent to the server, which returns a preview. It is
// independent of the document.

import { decode } from "../../../sts/viewer/episode.mjs";

export class Editing {
  /** @type {Record<string, any>} */ changes = {};
  /** @type {Episode | null} */ whole = null; // the whole trajectory
  /** @type {Whole | null} */ choices = null;
  /** @type {Tried | null} */ tried = null; // preview of the latest changes
  /** @type {number[]} */ steps = []; // of the trajectory, at which the category fits
  number = 1; // of the latest changes
  answered = 0; // number of the latest preview
  warned = false; // that Escape discards the changes
  saves = false; // Enter was pressed: save when the latest changes have a preview

  /** @param {Candidate} candidate @param {string} follows the latest decision seen by the curator */
  constructor(candidate, follows) {
    this.candidate = candidate;
    this.follows = follows;
  }

  // The request for a preview; null if the latest changes have one.
  get asks() {
    if (this.answered === this.number) return null;
    return { candidate: this.candidate.id, number: this.number, changes: this.changes, whole: !this.whole };
  }

  /** @param {Tried} tried */
  receive(tried) {
    if (tried.candidate !== this.candidate.id) return;
    if (tried.whole) {
      this.choices = tried.whole;
      this.whole = decode(tried.whole.episode);
      this.#applySpan();
    }
    this.steps = tried.steps ?? this.steps;
    this.answered = Math.max(this.answered, tried.number);
    if (tried.number === this.number) this.tried = tried;
  }

  // The value of a field after the changes.
  /** @param {string} name */
  valueOf(name) {
    return this.changes[name] ?? this.#before(name);
  }

  // The value of a field before the changes; texts for annotators are those of the candidate's own.
  #before(name) {
    return this.candidate.own[name] ?? this.candidate[name];
  }

  // Steps of the trajectory: start of the context, takeover and end.
  get span() {
    const takeover = this.valueOf("takeover");
    return { start: takeover - this.valueOf("context"), takeover, end: takeover + this.valueOf("horizon") };
  }

  get instruction() {
    return this.changes.instruction ?? this.tried?.facts?.instruction ?? this.candidate.instruction;
  }

  get tags() {
    return (this.changes.tags ?? this.candidate.tags.filter((tag) => tag !== "done-in-recording")).join(", ");
  }

  // Moves the start, the takeover or the end to a frame, within the trajectory. Start and end move along
  // with the takeover.
  /** @param {string} which @param {number} frame */
  move(which, frame) {
    if (!this.whole) return;
    const { start, takeover, end } = this.span;
    const { steps } = this.whole;
    const within = (low, high) => Math.max(low, Math.min(high, frame));
    if (which === "takeover") this.change("takeover", within(takeover - start, steps - (end - takeover)));
    else if (which === "start") this.change("context", takeover - within(0, takeover));
    else this.change("horizon", within(takeover + 1, steps) - takeover);
  }

  /** @param {string} name @param {any} value */
  change(name, value) {
    const was = this.#before(name);
    const before = JSON.stringify(this.changes);
    if (JSON.stringify(value) === JSON.stringify(was)) delete this.changes[name];
    else this.changes = { ...this.changes, [name]: value };
    if (name === "instruction") delete this.changes.template;
    if (name === "template") delete this.changes.instruction;
    if (JSON.stringify(this.changes) === before) return;
    this.number += 1;
    this.warned = this.saves = false;
    this.#applySpan();
  }

  // Applies the takeover and the evaluated player to the displayed trajectory.
  #applySpan() {
    if (!this.whole) return;
    const { takeover } = this.span;
    const judged = [this.choices.objects[this.valueOf("player")]];
    this.whole = { ...this.whole, takeover, length: this.whole.steps - takeover, judged };
  }

  // Summary of the changes in words; "" if there are none or the preview is missing.
  get said() {
    if (this.answered !== this.number || !this.tried?.changes) return "";
    const changes = this.tried.changes.filter(([name]) => name !== "state at takeover");
    return changes.map(([name, before, after]) => `${name} ${before} → ${after}`).join("; ");
  }
}
