// What every key does, once: the same rows map key presses and fill the help.
// r and c are left out on purpose: Streamlit listens to them.

export const PLAYBACK_KEYS = [
  { keys: [" "], show: "Space", action: "play", help: "play or pause" },
  { keys: ["ArrowLeft"], show: "←", action: "back", help: "one step back (Shift: ten)" },
  { keys: ["ArrowRight"], show: "→", action: "forward", help: "one step on (Shift: ten)" },
  { keys: ["Home"], show: "Home", action: "start", help: "start of the context" },
  { keys: ["t"], show: "T", action: "takeover", help: "the takeover" },
  { keys: ["End"], show: "End", action: "end", help: "end of the continuation" },
  { keys: [","], show: ",", action: "earlier", help: "previous thing said" },
  { keys: ["."], show: ".", action: "later", help: "next thing said" },
  { keys: ["[", "-"], show: "[ or −", action: "slower", help: "slower" },
  { keys: ["]", "+", "="], show: "] or +", action: "faster", help: "faster" },
  { keys: ["a"], show: "A", action: "autoplay", help: "start each episode by itself, or wait" },
];

export const JUDGING_KEYS = [
  { keys: ["s"], show: "S", action: "success", help: "success, at this step" },
  { keys: ["f"], show: "F", action: "failure", help: "failure, at this step" },
  { keys: ["n"], show: "N", action: "not_done", help: "not done by the end" },
  { keys: ["x"], show: "X", action: "cannot_judge", help: "cannot judge (then 1 to 4: why)" },
  { keys: ["1", "2", "3", "4"], action: "reason" },
  { keys: ["u"], show: "U", action: "undo", help: "take the mark away" },
  { keys: ["Enter"], show: "Enter", action: "submit", help: "submit and go on" },
  { keys: ["b"], show: "B", action: "previous", help: "back to the one before, to correct it" },
  { keys: ["Escape"], show: "Esc", action: "cancel", help: "leave a correction, a reason or this help" },
  { keys: ["?"], show: "?", action: "help", help: "show or hide these keys" },
];

const REPEATABLE = new Set(["back", "forward", "slower", "faster"]);

// From rows like these: what gives the action of a key press, or null when the press belongs to
// somebody else. Of several keys of one row the action says by `at` which it was.
export function actionsOf(rows) {
  const byKey = new Map(rows.flatMap(({ keys, action }) => keys.map((key, at) => [key, { action, at }])));
  return ({ key, shiftKey, ctrlKey, metaKey, altKey, repeat }) => {
    if (ctrlKey || metaKey || altKey) return null;
    const row = byKey.get(key.length === 1 ? key.toLowerCase() : key);
    if (!row) return null;
    if (repeat && !REPEATABLE.has(row.action)) return { name: "nothing" };
    return { name: row.action, at: row.at, by: shiftKey ? 10 : 1 };
  };
}
