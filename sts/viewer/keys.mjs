// Keys of the Viewer. The same rows map key presses and fill the help.
// r and c are left out, since Streamlit uses them.

/** @type {KeyRow[]} */
export const PLAYBACK_KEYS = [
  { keys: [" "], show: "Space", action: "play", help: "play or pause" },
  { keys: ["ArrowLeft"], show: "←", action: "back", help: "one step back (Shift: ten)" },
  { keys: ["ArrowRight"], show: "→", action: "forward", help: "one step forward (Shift: ten)" },
  { keys: ["Home"], show: "Home", action: "start", help: "go to the start of the context" },
  { keys: ["w"], show: "W", action: "watch", help: "play from the start of the context" },
  { keys: ["t"], show: "T", action: "takeover", help: "go to the takeover" },
  { keys: ["End"], show: "End", action: "end", help: "go to the end of the continuation" },
  { keys: ["l"], show: "L", action: "loop", help: "loop the steps around the marker" },
  { keys: [","], show: ",", action: "earlier", help: "previous utterance" },
  { keys: ["."], show: ".", action: "later", help: "next utterance" },
  { keys: ["[", "-"], show: "[ or −", action: "slower", help: "slower" },
  { keys: ["]", "+", "="], show: "] or +", action: "faster", help: "faster" },
  { keys: ["a"], show: "A", action: "autoplay", help: "autoplay on or off" },
];

// Returns true on a touch screen, which has no keys.
export const isTouch = () => globalThis.matchMedia?.("(hover: none) and (pointer: coarse)").matches ?? false;

// Returns what a person presses: a key, or on a touch screen the button of the same action.
/** @param {[key: string, button: string]} control */
export const nameInput = ([key, button]) => (isTouch() ? `“${button}”` : key);

/** @typedef {Record<string, [key: string, button: string]>} Controls */

// Returns a function that names what a person presses for an action.
/** @param {Controls} controls @returns {(action: string) => string} */
export const namerOf = (controls) => (action) => nameInput(controls[action]);

const REPEATABLE = new Set(["back", "forward", "slower", "faster"]);

/** @type {Record<string, string>} */
const BY_PLACE = { Space: " ", Comma: ",", Period: ".", Slash: "?", BracketLeft: "[", BracketRight: "]", Minus: "-", Equal: "=" };
const SIGNS_FOR_LETTERS = new Set(["/KeyQ", "'KeyW", ";KeyQ"]); // in Hebrew and Greek
const OTHER_SCRIPT = /^(?![\p{Script=Latin}\x00-\x7f])[\p{L}\p{M}\p{N}]/u;

// Returns the keys that a key press may mean, the likeliest first. A key of another script, or one that
// an input method takes, is also read by its place, as a Latin keyboard has it. A Latin letter is not:
// it counts wherever the layout has it.
/** @param {{ key: string, code?: string, shiftKey?: boolean }} event @returns {string[]} */
export function readKey({ key, code = "", shiftKey = false }) {
  const pressed = key.length === 1 ? key.toLowerCase() : key;
  if (/^Digit\d$/.test(code) && !shiftKey) return [pressed, code[5]]; // French digits need Shift
  const isOther = ["Process", "Unidentified"].includes(key) || OTHER_SCRIPT.test(key) || SIGNS_FOR_LETTERS.has(key + code);
  if (!isOther || !code) return [pressed];
  return [pressed, /^Key[A-Z]$/.test(code) ? code[3].toLowerCase() : (BY_PLACE[code] ?? code)];
}

// Returns a function from a key press to its action in `rows`, or null if it has none. In a row with
// several keys, `at` is the index of the key.
/** @param {KeyRow[]} rows @returns {(event: KeyboardEvent) => Action | null} */
export function actionsOf(rows) {
  /** @type {Map<string, { action: string, at: number }>} */
  const byKey = new Map();
  for (const { keys, action } of rows) keys.forEach((key, at) => byKey.set(key, { action, at }));
  return (event) => {
    const { shiftKey, ctrlKey, metaKey, altKey, repeat } = event;
    if (ctrlKey || metaKey || altKey) return null;
    const row = readKey(event).map((key) => byKey.get(key)).find(Boolean);
    if (!row) return null;
    if (repeat && !REPEATABLE.has(row.action)) return { name: "nothing" };
    return { name: row.action, at: row.at, by: shiftKey ? 10 : 1 };
  };
}
