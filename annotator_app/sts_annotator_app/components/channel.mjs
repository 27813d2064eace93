// Channel to the server: sends the outbox until it is acknowledged.

const RESEND = 4000; // ms between attempts while something is unacknowledged
const LOST = 7000; // ms without an answer before the page reports a lost connection

export class Channel {
  // `more` returns further fields of each message.
  /** @param {{ outbox: import("./outbox.mjs").Outbox, author: string, more?: () => object }} how */
  constructor({ outbox, author, more = () => ({}) }) {
    this.outbox = outbox;
    this.author = author;
    this.more = more;
    /** @type {(name: string, value: object) => void} */
    this.send = () => {}; // set by the page when it is mounted
    this.beat = 0;
    this.sentAt = performance.now();
    /** @type {number | null} */
    this.unansweredSince = null;
  }

  flush() {
    this.sentAt = performance.now();
    if (this.outbox.size) this.unansweredSince ??= this.sentAt;
    const message = { author: this.author, outbox: this.outbox.some(), beat: ++this.beat, ...this.more() };
    this.send("sync", message);
  }

  // Resends unacknowledged submissions. With an empty outbox it sends a heartbeat after `quiet` ms,
  // while the person is `there`.
  /** @param {number} quiet */
  keepInTouch(quiet, there = true) {
    const silent = performance.now() - this.sentAt;
    if (this.outbox.size ? silent >= RESEND : there && !document.hidden && silent >= quiet) this.flush();
  }

  answered() {
    this.unansweredSince = null;
  }

  get lost() {
    return this.unansweredSince !== null && performance.now() - this.unansweredSince > LOST;
  }
}
