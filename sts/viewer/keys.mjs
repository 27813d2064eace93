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

const REPEATABLE = new Set(["back", "forward", "slower", "faster"]);

// Returns a function from a key press to its action in `rows`, or null if it has none. In a row with
// several keys, `at` is the index of the key.
/** @param {KeyRow[]} rows @returns {(event: KeyboardEvent) => Action | null} */
export function actionsOf(rows) {
  /** @type {Map<string, { action: string, at: number }>} */
  const byKey = new Map();
  for (const { keys, action } of rows) keys.forEach((key, at) => byKey.set(key, { action, at }));
  return ({ key, shiftKey, ctrlKey, metaKey, altKey, repeat }) => {
    if (ctrlKey || metaKey || altKey) return null;
    const row = byKey.get(key.length === 1 ? key.toLowerCase() : key);
    if (!row) return null;
    if (repeat && !REPEATABLE.has(row.action)) return { name: "nothing" };
    return { name: row.action, at: row.at, by: shiftKey ? 10 : 1 };
  };
}
