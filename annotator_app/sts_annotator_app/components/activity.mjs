// How long somebody works at a page: the time in which it is in view, and in which they did something
// within the last seconds, or something they set going plays. Time comes in as milliseconds.

export const THOUGHT = 10_000; // after something was done
export const PLAYED = 120_000; // after something was done, while something plays

export class Activity {
  /** @param {number} now */
  constructor(now) {
    this.at = now; // what came before is counted
    this.touched = now;
    this.visible = true;
  }

  // The milliseconds of work since this was last asked; `playing` says how they were spent.
  /** @param {number} now @param {boolean} playing */
  spent(now, playing) {
    const until = Math.min(now, this.touched + (playing ? PLAYED : THOUGHT));
    const work = this.visible ? Math.max(0, until - this.at) : 0;
    this.at = now;
    return work;
  }

  // A person did something. Ask what was spent first.
  /** @param {number} now */
  touch(now) {
    this.touched = now;
  }
}
