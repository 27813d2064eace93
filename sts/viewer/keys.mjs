// What the keys of the Viewer do, once: the same rows map key presses and fill the help.
// r and c are left out on purpose: Streamlit listens to them.

/** @type {KeyRow[]} */
export const PLAYBACK_KEYS = [
  { keys: [" "], show: "Space", action: "play", help: "play or pause" },
  { keys: ["ArrowLeft"], show: "←", action: "back", help: "one step back (Shift: ten)" },
  { keys: ["ArrowRight"], show: "→", action: "forward", help: "one step on (Shift: ten)" },
  { keys: ["Home"], show: "Home", action: "start", help: "start of the context" },
  { keys: ["w"], show: "W", action: "watch", help: "play from the start of the context" },
  { keys: ["t"], show: "T", action: "takeover", help: "the takeover" },
  { keys: ["End"], show: "End", action: "end", help: "end of the continuation" },
  { keys: ["l"], show: "L", action: "loop", help: "the steps around the mark, again and again" },
  { keys: [","], show: ",", action: "earlier", help: "previous thing said" },
  { keys: ["."], show: ".", action: "later", help: "next thing said" },
  { keys: ["[", "-"], show: "[ or −", action: "slower", help: "slower" },
  { keys: ["]", "+", "="], show: "] or +", action: "faster", help: "faster" },
  { keys: ["a"], show: "A", action: "autoplay", help: "start each episode by itself, or wait" },
];

const REPEATABLE = new Set(["back", "forward", "slower", "faster"]);

// From rows like these: what gives the action of a key press, or null when the press belongs to
// somebody else. Of several keys of one row the action says by `at` which it was.
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
