// Submissions that the server has not acknowledged, each under a storage key of its own, so that
// a closed tab, a lost connection or a second tab loses none of them.

export class Outbox {
  #kept = new Map();

  constructor(storage, namespace) {
    this.storage = storage;
    this.prefix = `sts:outbox:${namespace}:`;
    this.volatile = false; // storage refused a write: what is unsent lives in this page only
    for (let i = 0; i < storage.length; i++) {
      const key = storage.key(i);
      if (key.startsWith(this.prefix)) this.#load(key);
    }
  }

  #load(key) {
    try {
      const submission = JSON.parse(this.storage.getItem(key));
      this.#kept.set(submission.uuid, submission);
    } catch {
      this.storage.removeItem(key); // never written by us in this form, and nothing can read it
    }
  }

  get size() {
    return this.#kept.size;
  }

  all() {
    return [...this.#kept.values()];
  }

  holds(item) {
    return this.all().some((submission) => submission.item === item);
  }

  put(submission) {
    this.#kept.set(submission.uuid, submission);
    try {
      this.storage.setItem(this.prefix + submission.uuid, JSON.stringify(submission));
    } catch {
      this.volatile = true;
    }
  }

  // Forgets what the server has answered for; returns the answers that refused something of ours.
  settle(acks) {
    const ours = acks.filter((ack) => this.#kept.has(ack.uuid));
    for (const { uuid } of ours) {
      this.#kept.delete(uuid);
      this.storage.removeItem(this.prefix + uuid);
    }
    return ours.filter((ack) => ack.status === "refused");
  }
}

export const uuid = (random) =>
  Array.from(random(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
