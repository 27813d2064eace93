// Submissions that the server has not acknowledged, each under its own storage key, so that a closed
// tab, a lost connection or a second tab loses none. A submission is an answer or a decision with a
// `uuid`.

import { count } from "../../../sts/viewer/episode.mjs";
import { recall } from "./browser.mjs";

const AT_ONCE = 500;

export class Outbox {
  /** @type {Map<string, any>} */
  #kept = new Map();

  // `after` is the field with the uuid of the submission that a submission depends on.
  /** @param {Kept} storage @param {string} namespace */
  constructor(storage, namespace, after = "corrects") {
    this.storage = storage;
    this.prefix = `sts:outbox:${namespace}:`;
    this.volatile = false; // storage rejected a write: unsent submissions exist in this page only
    const keys = Array.from({ length: storage.length }, (_, i) => storage.key(i));
    const ours = keys.flatMap((key) => (key?.startsWith(this.prefix) ? this.#load(key) : []));
    const unordered = new Map(ours.map((submission) => [submission.uuid, submission]));
    // Storage is unordered, and the server accepts a correction only after the corrected answer.
    const addInOrder = (uuid) => {
      const submission = unordered.get(uuid);
      if (!unordered.delete(uuid)) return;
      addInOrder(submission[after]);
      this.#kept.set(uuid, submission);
    };
    for (const uuid of [...unordered.keys()]) addInOrder(uuid);
  }

  /** @param {string} key @returns {any[]} */
  #load(key) {
    const submission = recall(this.storage, key);
    if (submission && key === this.prefix + submission.uuid) return [submission];
    this.storage.removeItem(key); // not written by this module, and never acknowledged
    return [];
  }

  get size() {
    return this.#kept.size;
  }

  all() {
    return [...this.#kept.values()];
  }

  // The next batch to send; the rest follows after its acknowledgement.
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

  // Removes acknowledged submissions; returns the acknowledgements of this outbox, each with its item.
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

// Describes what is unsaved, such as "2 unsaved answers", and where it is kept.
/** @param {Outbox} outbox @param {string} noun */
export const describeUnsaved = ({ size, volatile }, noun) =>
  count(size, `unsaved ${noun}`) +
  (volatile
    ? `. Your browser blocks local storage. Keep this page open until your ${noun}s are saved.`
    : ", kept in this browser; will be sent when the connection returns.");

/** @param {(array: Uint8Array) => Uint8Array} random */
export const uuid = (random) =>
  Array.from(random(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
