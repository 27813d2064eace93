// One active tab per person: the first of several tabs works, and the others wait until it is closed.
// On https and localhost this is a browser lock; elsewhere the active tab writes heartbeats to the
// shared storage.

import { keep, recall } from "./browser.mjs";

const BEAT = 1000; // ms between heartbeats
const STALE = 4500; // ms without a heartbeat before a tab counts as closed
const SURE = 60; // ms after which a tab that started at the same moment is detected

// Heartbeats in a storage; the caller passes the time.
export class Heartbeat {
  held = false;

  /** @param {Kept} storage @param {string} name @param {string} tab */
  constructor(storage, name, tab) {
    this.storage = storage;
    this.key = `sts:tab:${name}`;
    this.tab = tab;
  }

  // Writes a heartbeat unless another tab is active; returns true if this tab is active, that is if it
  // finds its own heartbeat. Without storage no other tab can be detected.
  /** @param {number} now */
  beat(now) {
    const last = recall(this.storage, this.key);
    const own = last?.tab === this.tab;
    const fresh = Math.abs(now - last?.at) < STALE;
    if (!own && fresh) return (this.held = false);
    const kept = keep(this.storage, this.key, { tab: this.tab, at: now });
    return (this.held = own || !kept);
  }

  end() {
    if (recall(this.storage, this.key)?.tab === this.tab) this.storage.removeItem(this.key);
    this.held = false;
  }
}

// Exclusive turn of one tab. `gained` is called when this tab becomes active, and `lost` if another tab
// took over while the browser had suspended this one.
export class Turn {
  held = false;

  /** @param {{ name: string, storage: Kept, tab: string, gained: () => void, lost: () => void,
   *   locks?: LockManager }} how */
  constructor({ name, storage, tab, gained, lost, locks = navigator.locks }) {
    this.gained = gained;
    this.lost = lost;
    this.abort = new AbortController();
    if (locks) this.#lock(locks, `sts:tab:${name}`);
    else this.#beat(new Heartbeat(storage, name, tab));
  }

  // Releases the turn.
  end() {
    this.abort.abort();
    this.held = false;
  }

  /** @param {LockManager} locks @param {string} name */
  #lock(locks, name) {
    const { signal } = this.abort;
    const hold = () => {
      if (signal.aborted) return;
      this.#tell(true);
      return new Promise((resolve) => signal.addEventListener("abort", resolve));
    };
    locks.request(name, { signal }, hold).catch(() => {}); // released while waiting
  }

  /** @param {Heartbeat} heart */
  #beat(heart) {
    const { signal } = this.abort;
    const beat = () => this.#tell(heart.beat(Date.now()));
    beat();
    setTimeout(() => signal.aborted || beat(), SURE);
    const timer = setInterval(beat, BEAT);
    document.addEventListener("visibilitychange", beat, { signal });
    window.addEventListener("pagehide", () => heart.end(), { signal });
    signal.addEventListener("abort", () => {
      clearInterval(timer);
      heart.end();
    });
  }

  /** @param {boolean} held */
  #tell(held) {
    if (held === this.held) return;
    this.held = held;
    if (held) this.gained();
    else this.lost();
  }
}
