// The channel to the server: what waits in an outbox is sent until it is answered for.

const RESEND = 4000; // ms between attempts while something is unacknowledged
const LOST = 7000; // ms without an answer before the person is told

export class Channel {
  // `more` gives what else each message says.
  /** @param {{ outbox: import("./outbox.mjs").Outbox, author: string, more?: () => object }} how */
  constructor({ outbox, author, more = () => ({}) }) {
    this.outbox = outbox;
    this.author = author;
    this.more = more;
    /** @type {(name: string, value: object) => void} */
    this.send = () => {}; // whoever mounts the page puts its own here
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

  // Sends what is unacknowledged once more; where nothing is, a sign of life after `quiet` ms, while
  // somebody is there.
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
