// One page of a person at a time: of several tabs the first works, and the others wait until it is
// closed. Browsers hold a lock for that on https and on this machine; elsewhere the tab that works
// says so again and again in the storage that they share.

import { keep, recall } from "./browser.mjs";

const BEAT = 1000; // ms between two signs of life
const STALE = 4500; // ms without one after which a tab counts as gone
const SURE = 60; // ms after which another tab that began at the same moment would be seen

// Signs of life in a storage; knows no clock.
export class Heartbeat {
  held = false;

  /** @param {Kept} storage @param {string} name @param {string} tab */
  constructor(storage, name, tab) {
    this.storage = storage;
    this.key = `sts:tab:${name}`;
    this.tab = tab;
  }

  // Says that this tab is there, unless another one is; returns whether it is this one's turn, which
  // it is once its own sign is found. Where nothing can be kept no other tab can be seen.
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

// The turn of one tab among those of its name. `gained` is called when it has come, and `lost` where
// another tab took it from one that the browser had put to sleep.
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

  // Lets the next tab have its turn.
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
    locks.request(name, { signal }, hold).catch(() => {}); // ended while it waited
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
