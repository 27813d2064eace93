// Active time at a page: while it is visible and the person's last input was seconds ago, or minutes
// ago during playback. Times are milliseconds.

export const THOUGHT = 10_000; // after an input
export const PLAYED = 120_000; // after an input, during playback

export class Activity {
  /** @param {number} now */
  constructor(now) {
    this.at = now; // time up to here is accounted for
    this.touched = now;
    this.visible = true;
  }

  // Returns the active time since the last call; `playing` is true during playback.
  /** @param {number} now @param {boolean} playing */
  spent(now, playing) {
    const until = Math.min(now, this.touched + (playing ? PLAYED : THOUGHT));
    const work = this.visible ? Math.max(0, until - this.at) : 0;
    this.at = now;
    return work;
  }

  // Records an input; call `spent` first.
  /** @param {number} now */
  touch(now) {
    this.touched = now;
  }
}
