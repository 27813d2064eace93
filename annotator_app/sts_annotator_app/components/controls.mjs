// The keys with which a person acts and speaks in a world.

import { readKey } from "../../../sts/viewer/keys.mjs";

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
const SPARE_KEYS = [..."eqfzgtvbhijklopu"]; // Streamlit uses r and c
/** @type {Record<string, string>} */
const NUMPAD = { 7: "q", 8: "w", 9: "e", 4: "a", 5: "s", 6: "d", 1: "z", 2: "x", 3: "c" };
/** @type {Record<string, string>} */
const WORDS = { y: "yes", n: "no", m: "more" };

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
/** @param {{ key: string, code?: string, shiftKey?: boolean }} event
 * @param {Record<string, string>} layout @param {string[]} tokens @returns {Action | null} */
export function turnAction({ key, code = "", shiftKey = false }, layout, tokens) {
  const pad = code.startsWith("Numpad") ? NUMPAD[code.slice(6)] : undefined;
  if (pad && layout[pad]) return { name: "move", move: layout[pad] };
  for (const letter of readKey({ key, code, shiftKey })) {
    if (letter === "Backspace" || letter === "Escape") return { name: "silence" };
    const move = layout[letter];
    if (move && !(shiftKey && tokens.includes(move))) return { name: "move", move };
    const word = move ?? WORDS[letter] ?? letter;
    if (tokens.indexOf(word) > 0) return { name: "say", word };
  }
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
