// Playback of one episode: the current frame, playing and speed. It is independent of the document;
// times are milliseconds, and input arrives as named actions.

import { count } from "./episode.mjs";
import { nameInput } from "./keys.mjs";

const PAUSE_AT_END = 900; // ms before a loop restarts
const LOOP_STEPS = 5; // steps looped before and after a marker
export const SPEEDS = [1, 2, 4, 6, 8, 12, 16, 24, 30]; // steps a second

// A view of an episode: the current frame, and the watched frames of the continuation.
/** @param {Episode} episode @returns {View} */
export const viewOf = (episode, frame = 0) => ({ episode, frame, watched: new Set() });

export class Playback {
  // `pictured` returns the state of a frame's picture ("here", "coming" or "broken"), and `marked` the
  // frame of the page's marker.
  /** @param {{ settings?: { speed?: number, autoplay?: boolean } | null,
   *   pictured?: (episode: Episode, frame: number) => Pictured, marked?: () => number | null }} how */
  constructor({ settings, pictured = () => "here", marked = () => null } = {}) {
    this.pictured = pictured;
    this.marked = marked;
    this.speed = SPEEDS.find((speed) => speed === settings?.speed) ?? 8;
    this.autoplay = settings?.autoplay ?? true;
    /** @type {View | null} */
    this.view = null;
    this.playing = false;
    this.loops = false; // restart at the end
    /** @type {{ from: number, to: number } | null} */
    this.around = null; // the looped frames
    this.lastTick = 0;
    /** @type {(text: string) => void} */
    this.say = () => {}; // replaced by pages that display messages
  }

  get settings() {
    return { speed: this.speed, autoplay: this.autoplay };
  }

  get frame() {
    return this.view?.frame ?? 0;
  }

  // Counted from the takeover; frames of the continuation have steps from 1 on.
  get step() {
    return this.view ? this.view.frame - this.view.episode.takeover : 0;
  }

  get picture() {
    return this.view ? this.pictured(this.view.episode, this.view.frame) : "here";
  }

  get watchedShare() {
    return this.view ? this.view.watched.size / this.view.episode.length : 0;
  }

  // Opens a view at its frame, or null; with autoplay, a new view starts playing if `begins` is true.
  /** @param {View | null} view @param {number} now */
  open(view, now, begins = true) {
    this.view = view;
    this.stop();
    this.arrived();
    if (view && begins && this.autoplay && view.frame === 0) this.play(now);
  }

  // Records the current frame as watched if its picture is decoded.
  arrived() {
    if (this.step > 0 && this.picture === "here") this.view.watched.add(this.view.frame);
  }

  /** @param {number} frame @param {number} now */
  go(frame, now) {
    if (!this.view) return;
    this.view.frame = Math.max(0, Math.min(this.view.episode.steps, frame));
    this.lastTick = now;
    this.arrived();
  }

  // Called at every repaint; advances by at most one frame, so that no frame is skipped.
  /** @param {number} now */
  tick(now) {
    if (this.playing && this.picture !== "here") this.lastTick = now;
    const { from, to } = this.around ?? { from: 0, to: this.view?.episode.steps };
    const ended = this.view?.frame === to;
    const pause = ended ? PAUSE_AT_END : 1000 / this.speed;
    if (!this.playing || now - this.lastTick < pause) return false;
    const due = this.lastTick + pause;
    this.go(ended ? from : this.view.frame + 1, now);
    this.lastTick = Math.max(due, now - 1000 / this.speed);
    if (this.view.frame === to) this.playing = this.loops || !!this.around;
    return true;
  }

  stop() {
    this.playing = false;
    this.around = null;
  }

  /** @param {number} now */
  play(now) {
    if (this.view.frame === this.view.episode.steps && !this.around) this.go(this.view.episode.takeover, now);
    this.playing = true;
    this.lastTick = now;
  }

  // Performs an action; returns true if it is a playback action.
  /** @param {Action} action @param {number} now */
  act({ name, by = 1, frame = 0 }, now) {
    if (name === "autoplay") this.#toggleAutoplay();
    else if (name === "slower" || name === "faster") this.#changeSpeed(name);
    else if (this.view) return this.#navigate(name, by, frame, now);
    else return false;
    return true;
  }

  #navigate(name, by, frame, now) {
    const { view } = this;
    const jump = (to) => {
      this.stop();
      this.go(to, now);
    };
    const ways = {
      play: () => (this.playing ? (this.playing = false) : this.play(now)),
      back: () => jump(view.frame - by),
      forward: () => jump(view.frame + by),
      seek: () => jump(frame),
      start: () => jump(0),
      watch: () => (jump(0), this.play(now)),
      loop: () => (this.around ? this.stop() : this.#loop(jump, now)),
      end: () => jump(view.episode.steps),
      takeover: () => jump(view.episode.takeover),
      earlier: () => this.#toUtterance(jump, (u) => u.frame < view.frame, -1),
      later: () => this.#toUtterance(jump, (u) => u.frame > view.frame, 0),
    };
    ways[name]?.();
    return name in ways;
  }

  #loop(jump, now) {
    const { frame, episode } = this.view;
    const at = this.marked() ?? frame;
    jump(Math.max(0, at - LOOP_STEPS));
    this.around = { from: this.frame, to: Math.min(episode.steps, at + LOOP_STEPS) };
    this.play(now);
  }

  #toUtterance(jump, fits, at) {
    const utterance = this.view.episode.utterances.filter(fits).at(at);
    if (utterance) jump(utterance.frame);
    else this.say(at < 0 ? "No earlier utterance." : "No later utterance.");
  }

  #toggleAutoplay() {
    this.autoplay = !this.autoplay;
    this.say(this.autoplay ? "Autoplay is on." : `Autoplay is off. Press ${nameInput(["Space", "Play"])} to start an episode.`);
  }

  #changeSpeed(name) {
    const at = SPEEDS.indexOf(this.speed) + (name === "faster" ? 1 : -1);
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, at))];
    this.say(`${count(this.speed, "step")} per second.`);
  }
}
