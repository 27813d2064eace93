// Unfinished visits of annotators and reviewers, stored in the browser: marker, watched frames, time
// spent, and a reviewer's error type and comment survive a reload. The server validates what is sent.

import { keep, recall } from "./browser.mjs";
import { VERDICTS } from "../../../sts/viewer/verdicts.mjs";

const KEPT = 60; // stored visits; the oldest are dropped

export class Visits {
  /** @param {Kept} storage @param {string} namespace */
  constructor(storage, namespace) {
    this.storage = storage;
    this.prefix = `sts:visit:${namespace}:`;
    const all = Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? "");
    const ours = all.filter((key) => key.startsWith(this.prefix)).map((key) => key.slice(this.prefix.length));
    ours.sort((a, b) => this.savedAt(b) - this.savedAt(a));
    for (const item of ours.slice(KEPT)) this.forget(item);
  }

  // Returns when an item's visit was stored, in ms; 0 if none is.
  /** @param {string} item @returns {number} */
  savedAt(item) {
    const { at } = recall(this.storage, this.prefix + item) ?? {};
    return at > 0 ? at : 0;
  }

  /** @param {Visit | Review | null} visit @param {number} at time of storage */
  keep(visit, at) {
    if (!visit || ("sent" in visit && !visit.corrects)) return; // a training answer was sent
    const { frame, mark, corrects, spent, watched } = visit;
    if (!frame && !spent && !mark) return;
    const said = "words" in visit ? { errorType: visit.errorType, words: visit.words } : {};
    const kept = { at, frame, mark, corrects, spent, watched: [...watched], ...said };
    keep(this.storage, this.prefix + visit.episode.id, kept);
  }

  /** @param {string} item */
  forget(item) {
    this.storage.removeItem(this.prefix + item);
  }

  // Restores a stored visit; returns false if there is none. A stored first answer does not restore a
  // correction, nor the other way round.
  /** @param {Visit | Review} visit */
  restore(visit) {
    const kept = recall(this.storage, this.prefix + visit.episode.id);
    if (typeof kept !== "object" || !kept || (kept.corrects ?? null) !== visit.corrects) return false;
    const { steps, takeover, length } = visit.episode;
    const whole = (n, least, most) => Number.isInteger(n) && n >= least && n <= most;
    if (whole(kept.frame, 0, steps)) visit.frame = kept.frame;
    if (Array.isArray(kept.watched))
      for (const frame of kept.watched) if (whole(frame, takeover + 1, steps)) visit.watched.add(frame);
    if (kept.spent > 0 && kept.spent < 1e9) visit.spent = kept.spent;
    if (isMark(kept.mark, (step) => whole(step, 1, length))) visit.mark = kept.mark;
    if ("words" in visit) {
      if (typeof kept.errorType === "string") visit.errorType = kept.errorType;
      if (typeof kept.words === "string") visit.words = kept.words;
    }
    return true;
  }
}

/** @param {any} mark @param {(step: any) => boolean} fits */
function isMark(mark, fits) {
  if (typeof mark !== "object" || !mark || !Object.hasOwn(VERDICTS, mark.verdict)) return false;
  const { verdict, step, reason } = mark;
  const marked = verdict === "success" || verdict === "failure";
  return (marked ? fits(step) : step === null) && (reason === null || typeof reason === "string");
}
