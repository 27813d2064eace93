// Changes of a candidate as they are tried: each is sent to the server, which derives what follows from
// it. Knows no document.

import { decode } from "../../../sts/viewer/episode.mjs";

export class Editing {
  /** @type {Record<string, any>} */ changes = {};
  /** @type {Episode | null} */ whole = null; // all of the trajectory
  /** @type {Whole | null} */ choices = null;
  /** @type {Tried | null} */ tried = null; // what the latest changes come to
  number = 1; // of the latest changes
  answered = 0; // of those that came back
  warned = false; // that Escape drops the changes

  /** @param {Candidate} candidate @param {string} follows the decision that was seen */
  constructor(candidate, follows) {
    this.candidate = candidate;
    this.follows = follows;
  }

  // What the server is asked, as long as it has not answered for the latest changes.
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
      this.#lay();
    }
    this.answered = Math.max(this.answered, tried.number);
    if (tried.number === this.number) this.tried = tried;
  }

  #value(name, field = name) {
    return this.changes[name] ?? this.candidate[field];
  }

  // The steps of the trajectory at which the context begins, somebody takes over, and it ends.
  get span() {
    const takeover = this.#value("takeover", "moment");
    return { start: takeover - this.#value("context"), takeover, end: takeover + this.#value("length") };
  }

  get role() {
    return this.#value("role");
  }

  get category() {
    return this.#value("category");
  }

  get text() {
    return this.changes.text ?? this.tried?.facts?.text ?? this.candidate.text;
  }

  get tags() {
    return (this.changes.tags ?? this.candidate.tags.filter((tag) => tag !== "done-in-recording")).join(", ");
  }

  // Moves the beginning, the takeover or the end to a frame, as far as the trajectory goes. With the
  // takeover the others move along.
  /** @param {string} which @param {number} frame */
  move(which, frame) {
    if (!this.whole) return;
    const { start, takeover, end } = this.span;
    const { steps } = this.whole;
    const within = (low, high) => Math.max(low, Math.min(high, frame));
    if (which === "takeover") this.change("takeover", within(takeover - start, steps - (end - takeover)));
    else if (which === "start") this.change("context", takeover - within(0, takeover));
    else this.change("length", within(takeover + 1, steps) - takeover);
  }

  /** @param {string} name @param {any} value */
  change(name, value) {
    const was = { takeover: this.candidate.moment }[name] ?? this.candidate[name];
    const before = JSON.stringify(this.changes);
    if (JSON.stringify(value) === JSON.stringify(was)) delete this.changes[name];
    else this.changes = { ...this.changes, [name]: value };
    if (name === "text") delete this.changes.wording;
    if (name === "wording") delete this.changes.text;
    if (JSON.stringify(this.changes) === before) return;
    this.number += 1;
    this.warned = false;
    this.#lay();
  }

  // The trajectory as it is shown: judged from the takeover on, by who is asked.
  #lay() {
    if (!this.whole) return;
    const { takeover } = this.span;
    const judged = [this.choices.objects[this.role]];
    this.whole = { ...this.whole, takeover, length: this.whole.steps - takeover, judged };
  }

  // What another than before it comes to, in words; "" for nothing, or as long as it is not known.
  get said() {
    if (this.answered !== this.number || !this.tried?.changes) return "";
    const told = this.tried.changes.filter(([name]) => name !== "state at takeover");
    return told.map(([name, before, after]) => `${name} ${before} → ${after}`).join("; ");
  }
}
