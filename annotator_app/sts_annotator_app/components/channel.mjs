// Channel to the server: posts the outbox until it is acknowledged, one message at a time.

const RESEND = 4000; // ms between attempts while something is unacknowledged
const LOST = 7000; // ms without an answer before the page reports a lost connection
const GIVEN_UP = 30000; // ms after which an unanswered message is sent again
const UNAVAILABLE = 503;
const REFUSED = [401, 403]; // no session, or no right to this page
const REFUSAL = "The server no longer accepts this page. Your work is kept in this browser: reload the page to continue.";

export class Channel {
  #posting = false;
  #waiting = false; // another message is due
  #ended = false;

  // `more` returns further fields of each message, `receive` handles the page's next data (true: its
  // first), and `refused` has the server show why it does not answer this person.
  /** @param {{ outbox: import("./outbox.mjs").Outbox, author: string, address: string, more?: () => object,
   *   receive: (data: any, first: boolean) => void, refused: () => void }} how */
  constructor({ outbox, author, address, more = () => ({}), receive, refused }) {
    this.outbox = outbox;
    this.author = author;
    this.address = address;
    this.more = more;
    this.receive = receive;
    this.refused = refused;
    this.begun = false; // true once the page has data
    this.trouble = ""; // a problem of the server
    this.sentAt = performance.now();
    /** @type {number | null} */
    this.unansweredSince = null;
  }

  flush() {
    this.sentAt = performance.now();
    if (this.outbox.size || !this.begun) this.unansweredSince ??= this.sentAt;
    if (this.#posting) this.#waiting = true;
    else this.#post();
  }

  // Answers that arrive later are ignored.
  end() {
    this.#ended = true;
  }

  // Resends what is unacknowledged. With an empty outbox it sends a heartbeat after `quiet` ms, while
  // the person is `there`.
  /** @param {number} quiet */
  keepInTouch(quiet, there = true) {
    const silent = performance.now() - this.sentAt;
    const due = this.outbox.size || !this.begun;
    if (due ? silent >= RESEND : there && !document.hidden && silent >= quiet) this.flush();
  }

  get lost() {
    return this.unansweredSince !== null && performance.now() - this.unansweredSince > LOST;
  }

  // Describes what keeps the page from its first data; "" for nothing.
  get problem() {
    return this.trouble || (this.lost ? "Connection lost. This page tries again every few seconds." : "");
  }

  async #post() {
    this.#posting = true;
    this.#waiting = false;
    const first = !this.begun;
    const message = first ? null : { author: this.author, outbox: this.outbox.some(), ...this.more() };
    const [status, data] = await post(this.address, message);
    this.#posting = false;
    if (this.#ended) return;
    if (REFUSED.includes(status)) {
      this.trouble = REFUSAL;
      this.refused();
    } else if (data) {
      this.trouble = data.trouble;
      if (data.acks && (first || data.acks.length)) this.unansweredSince = null;
      if (status !== UNAVAILABLE) {
        this.begun = true;
        this.receive(data, first);
      }
    }
    if (this.#waiting && !this.#posting && !this.#ended) this.#post();
  }
}

// Posts a message; returns the status and the data of the answer, or neither if the connection is lost.
/** @param {string} address @param {object | null} message @returns {Promise<[number, any]>} */
async function post(address, message) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), GIVEN_UP);
  try {
    const { signal } = abort;
    const answer = await fetch(address, { method: "POST", body: JSON.stringify(message), signal });
    const isData = answer.headers.get("Content-Type")?.startsWith("application/json");
    return [answer.status, isData ? await answer.json() : null];
  } catch {
    return [0, null];
  } finally {
    clearTimeout(timer);
  }
}
