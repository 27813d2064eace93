// A person's turns, independent of the page: frames received, turns made and the next word.

import { instructionAt, spriteOf } from "../../../sts/viewer/episode.mjs";
import { keep, recall } from "./browser.mjs";

/** @type {Record<string, string>} */
export const COMPASS = {
  q: "up-left", w: "up", e: "up-right",
  a: "left", s: "stay", d: "right",
  z: "down-left", x: "down", c: "down-right",
};
/** @type {Record<string, string>} */
const KEY_OF_DIRECTION = {
  up: "w", north: "w", forward: "w", left: "a", west: "a", right: "d", east: "d",
  down: "s", south: "s", back: "s", backward: "s", stay: "x", wait: "x", noop: "x", done: "x",
};
const SPARE_KEYS = [..."eqfzgvbhijklopu"]; // t is a control; Streamlit uses r and c
/** @type {Record<string, string>} */
const NUMPAD = { 7: "q", 8: "w", 9: "e", 4: "a", 5: "s", 6: "d", 1: "z", 2: "x", 3: "c" };
/** @type {Record<string, string>} */
const WORDS = { y: "yes", n: "no", m: "more" };
/** @type {Record<string, string>} */
const CONTROLS = {
  " ": "play", ArrowLeft: "back", ArrowRight: "forward", Home: "start", End: "now", t: "now",
  Backspace: "silence", Escape: "silence",
};

// Returns a domain's actions by key: COMPASS if it has all of these, else directions by name and the
// others in order.
/** @param {string[]} moves @returns {Record<string, string>} */
export function layoutOf(moves) {
  if (Object.values(COMPASS).every((move) => moves.includes(move))) return COMPASS;
  /** @type {Record<string, string>} */
  const layout = {};
  const others = moves.filter((move) => {
    const key = KEY_OF_DIRECTION[move.toLowerCase()];
    if (!key || layout[key]) return true;
    layout[key] = move;
    return false;
  });
  others.slice(0, SPARE_KEYS.length).forEach((move, i) => (layout[SPARE_KEYS[i]] = move));
  return layout;
}

// Returns the action of a key press, or null. A direction's key moves, and says the direction with
// Shift; the numeric keypad moves, and the row of digits says numbers.
/** @param {KeyboardEvent} event @returns {Action | null} */
export function turnAction({ key, code = "", shiftKey, ctrlKey, metaKey, altKey, repeat }, layout = COMPASS) {
  if (ctrlKey || metaKey || altKey) return null;
  const pad = code.startsWith("Numpad") ? NUMPAD[code.slice(6)] : undefined;
  if (pad && layout[pad]) return repeat ? { name: "nothing" } : { name: "move", move: layout[pad] };
  const letter = key.length === 1 ? key.toLowerCase() : key;
  if (CONTROLS[letter]) return { name: CONTROLS[letter] };
  if (repeat) return null;
  if (layout[letter]) return shiftKey ? { name: "say", word: layout[letter] } : { name: "move", move: layout[letter] };
  if (WORDS[letter]) return { name: "say", word: WORDS[letter] };
  if (/^[0-8]$/.test(letter)) return { name: "say", word: letter };
  return null;
}

// Returns the help on utterances: which keys say which words.
/** @param {Record<string, string>} layout @param {string[]} tokens */
export function speechHelp(layout, tokens) {
  const ways = Object.values(layout).some((move) => tokens.includes(move));
  const letters = Object.entries(WORDS).filter(([, word]) => tokens.includes(word)).map(([key]) => key.toUpperCase());
  const digits = tokens.filter((word) => /^[0-8]$/.test(word));
  const range = digits.length > 1 ? [`${digits[0]} to ${digits.at(-1)}`] : digits;
  const keys = [...letters, ...range];
  return [
    ways ? "Hold Shift with an action's key to say it instead" : "Use the buttons to say a word",
    ...(keys.length ? [`press ${keys.join(", ")} to say that`] : []),
    "Backspace clears the word.",
  ].join("; ");
}

export class Turns {
  /** @type {Shown | null | undefined} */ view;
  /** @type {[number, number][]} */ turns = [];
  /** @type {Record<string, string>} */ layout = COMPASS;
  seconds = 0;
  frame = 0;
  word = 0;
  playing = false;

  /** @param {{ storage: Kept, namespace: string }} how */
  constructor({ storage, namespace }) {
    this.storage = storage;
    this.prefix = `sts:play:${namespace}:`;
    /** @type {string | null | undefined} */
    this.session = undefined; // undefined: no data yet; null: no scenario to play
    this.message = "";
  }

  // Handles data of the server: the frames that this page lacks. After a reload the scenario continues
  // where it was left, and earlier frames are requested.
  /** @param {Shown} view */
  receive(view) {
    const fresh = view.session !== this.session;
    const caughtUp = this.frame === this.last;
    if (fresh) {
      const kept = view.session ? recall(this.storage, this.prefix + view.session) : null;
      Object.assign(this, { session: view.session, word: 0, frame: 0, message: "", view: null });
      Object.assign(this, { turns: kept?.turns ?? [], seconds: kept?.seconds ?? 0 });
    }
    if (!view.session) return void (this.view = view);
    if (view.first > this.frames.length) return;
    const begun = !this.view;
    this.#merge(view);
    if (begun) {
      this.layout = layoutOf(view.moves);
      this.playing = !this.turns.length;
    }
    // A restarted server sends fewer frames until it has replayed the turns.
    const follows = this.turns.length && (begun || caughtUp);
    this.frame = follows ? this.last : Math.min(this.frame, this.last);
    if (view.finished) this.storage.removeItem(this.prefix + this.session);
  }

  /** @param {Shown} view */
  #merge(view) {
    let frames = 0;
    const sprites = (this.view?.sprites ?? []).filter((one) => (frames += one.count) <= view.first);
    this.view = {
      ...view,
      frames: [...this.frames.slice(0, view.first), ...view.frames],
      sprites: view.sprites && [...sprites, ...view.sprites],
    };
    // Turns that the server rejected are dropped and those it has not received are kept. Turns that it
    // received from another page are final.
    const shown = Math.max(0, view.first - view.takeover - 1);
    const taken = [...this.turns.slice(0, shown), ...view.turns];
    const agrees = taken.every((turn, i) => `${turn}` === `${this.turns[i]}`);
    if (!agrees) this.turns = taken;
    else if (view.received > view.played && view.received === this.turns.length)
      this.turns = this.turns.slice(0, view.played);
  }

  get frames() {
    return this.view?.frames ?? [];
  }

  get last() {
    return this.frames.length - 1;
  }

  // True while the server has not answered for all turns, or frames are missing.
  get behind() {
    return !!this.session && (!this.view || this.turns.length > this.view.played);
  }

  // True once the context has been watched and the server has answered for the latest turn.
  get myTurn() {
    const { view } = this;
    return !!view?.session && !view.finished && this.frame === this.last && view.played === this.turns.length;
  }

  get state() {
    const { length } = this.frames;
    const turns = length ? this.turns.slice(length - this.view.takeover - 1) : this.turns;
    return { session: this.session, frames: length, turns, seconds: Math.round(this.seconds) };
  }

  get sprite() {
    return spriteOf(this.view.sprites, this.frame);
  }

  get instruction() {
    return instructionAt(this.view, this.frame);
  }

  // The word said with the turn before the current frame.
  get lastWord() {
    const [, word] = this.turns[this.frame - this.view.takeover - 1] ?? [];
    return word ? this.view.tokens[word] : "";
  }

  spend(seconds) {
    this.seconds += seconds;
  }

  // Performs an action; returns true if there is a turn to send.
  /** @param {Action} action */
  act({ name, move, word }) {
    if (!this.view?.session) return false;
    if (name === "move") return this.#move(move);
    if (name === "say") this.#say(word);
    else if (name === "silence") this.word = 0;
    else if (name === "play") this.playing = !this.playing && this.frame < this.last;
    else this.#navigate(name);
    return false;
  }

  #navigate(name) {
    const to = { back: this.frame - 1, forward: this.frame + 1, start: 0, now: this.last }[name];
    if (to === undefined) return;
    this.playing = false;
    this.frame = Math.max(0, Math.min(this.last, to));
  }

  #say(word) {
    const index = this.view.tokens.indexOf(word);
    if (index > 0) this.word = index === this.word ? 0 : index;
  }

  #move(move) {
    if (!this.myTurn) {
      const behind = "Go to the latest step first: press T.";
      const onItsWay = "Waiting for the server to answer your last action.";
      if (!this.view.finished) this.message = this.frame < this.last ? behind : onItsWay;
      return false;
    }
    this.turns = [...this.turns, [this.view.moves.indexOf(move), this.word]];
    this.word = 0;
    const kept = keep(this.storage, this.prefix + this.session, { turns: this.turns, seconds: this.seconds });
    this.message = kept ? "" : "Your browser blocks local storage. Keep this page open until the end.";
    return true;
  }

  // Advances by one frame while the context plays; returns true if anything changed.
  tick() {
    if (!this.playing) return false;
    if (this.frame < this.last) this.frame++;
    if (this.frame >= this.last) this.playing = false;
    return true;
  }
}
