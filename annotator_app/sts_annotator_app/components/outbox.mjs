// Submissions that the server has not acknowledged, each under a storage key of its own, so that
// a closed tab, a lost connection or a second tab loses none of them. A submission is what a judge has
// answered, or what a curator has decided: anything with a `uuid`.

import { recall } from "./browser.mjs";

const AT_ONCE = 500;

export class Outbox {
  /** @type {Map<string, any>} */
  #kept = new Map();

  // `after` names the field in which a submission says what it comes after.
  /** @param {Kept} storage @param {string} namespace */
  constructor(storage, namespace, after = "corrects") {
    this.storage = storage;
    this.prefix = `sts:outbox:${namespace}:`;
    this.volatile = false; // storage refused a write: what is unsent lives in this page only
    const keys = Array.from({ length: storage.length }, (_, i) => storage.key(i));
    const ours = keys.flatMap((key) => (key?.startsWith(this.prefix) ? this.#load(key) : []));
    const found = new Map(ours.map((one) => [one.uuid, one]));
    // Storage has no order, and the server takes a correction only after what it corrects.
    const take = (uuid) => {
      const submission = found.get(uuid);
      if (!found.delete(uuid)) return;
      take(submission[after]);
      this.#kept.set(uuid, submission);
    };
    for (const uuid of [...found.keys()]) take(uuid);
  }

  /** @param {string} key @returns {any[]} */
  #load(key) {
    const submission = recall(this.storage, key);
    if (submission && key === this.prefix + submission.uuid) return [submission];
    this.storage.removeItem(key); // never written by us in this form, and nobody would answer for it
    return [];
  }

  get size() {
    return this.#kept.size;
  }

  all() {
    return [...this.#kept.values()];
  }

  // What is sent at once: the rest follows when these are acknowledged.
  some() {
    return this.all().slice(0, AT_ONCE);
  }

  /** @param {string} item */
  holds(item) {
    return this.all().some((submission) => submission.item === item);
  }

  /** @param {any} submission */
  put(submission) {
    this.#kept.set(submission.uuid, submission);
    try {
      this.storage.setItem(this.prefix + submission.uuid, JSON.stringify(submission));
    } catch {
      this.volatile = true;
    }
  }

  // Forgets what the server has answered for; returns the answers to something of ours, each with
  // the item that it was about.
  /** @param {Ack[]} acks @returns {(Ack & { item?: string })[]} */
  settle(acks) {
    const ours = acks.filter((ack) => this.#kept.has(ack.uuid));
    const about = ours.map((ack) => ({ ...ack, item: this.#kept.get(ack.uuid).item }));
    for (const { uuid } of ours) {
      this.#kept.delete(uuid);
      this.storage.removeItem(this.prefix + uuid);
    }
    return about;
  }
}

/** @param {(array: Uint8Array) => Uint8Array} random */
export const uuid = (random) =>
  Array.from(random(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
