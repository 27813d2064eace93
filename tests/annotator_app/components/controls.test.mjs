import assert from "node:assert/strict";
import test from "node:test";
import { COMPASS, layoutOf, speechHelp, turnAction } from "../../../annotator_app/sts_annotator_app/components/controls.mjs";

const MOVES = ["up-left", "up", "up-right", "left", "stay", "right", "down-left", "down", "down-right"];
const TOKENS = ["", "yes", "no", "up-left", "3", "more"];

test("keys and the keypad act, and Shift, letters and the digit row speak", () => {
  const action = (event) => turnAction(event, COMPASS, TOKENS);
  assert.deepEqual(action({ key: "q" }), { name: "move", move: "up-left" });
  assert.deepEqual(action({ key: "Q", shiftKey: true }), { name: "say", word: "up-left" });
  assert.deepEqual(action({ key: "W", shiftKey: true }), { name: "move", move: "up" }, "up is no word here");
  assert.deepEqual(action({ key: "3", code: "Numpad3" }), { name: "move", move: "down-right" });
  assert.deepEqual(action({ key: "3", code: "Digit3" }), { name: "say", word: "3" });
  assert.deepEqual(action({ key: "M" }), { name: "say", word: "more" });
  assert.deepEqual(action({ key: "Backspace" }), { name: "silence" });
  for (const key of ["9", "Shift", "t"]) assert.equal(action({ key }), null);
});

test("keys of other scripts move and speak by their place", () => {
  const action = (key, code, more = {}) => turnAction({ key, code, ...more }, COMPASS, TOKENS);
  assert.deepEqual(action("ц", "KeyW"), { name: "move", move: "up" });
  assert.deepEqual(action("/", "KeyQ"), { name: "move", move: "up-left" }, "Hebrew");
  assert.deepEqual(action("Й", "KeyQ", { shiftKey: true }), { name: "say", word: "up-left" });
  assert.deepEqual(action("Process", "KeyY"), { name: "say", word: "yes" });
  assert.deepEqual(action("a", "KeyQ"), { name: "move", move: "left" }, "French");
});

test("actions of other environments get keys by name or in order", () => {
  const maze = layoutOf(["left", "right", "forward", "pickup", "drop", "toggle", "done"]);
  assert.deepEqual(maze, { a: "left", d: "right", w: "forward", e: "pickup", q: "drop", f: "toggle", x: "done" });
  assert.deepEqual(turnAction({ key: "e" }, maze, TOKENS), { name: "move", move: "pickup" });
  assert.deepEqual(turnAction({ key: "4", code: "Numpad4" }, maze, TOKENS), { name: "move", move: "left" });
  assert.equal(turnAction({ key: "z" }, maze, TOKENS), null);
});

test("action keys are unique and avoid those of words and Streamlit", () => {
  const many = Array.from({ length: 127 }, (_, i) => `move ${i}`);
  const keys = Object.keys(layoutOf([...many, "up", "north", "forward"]));
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(keys.filter((key) => ["r", "c", "y", "n", "m"].includes(key)), []);
  assert.equal(layoutOf(MOVES).q, "up-left");
});

test("the help lists exactly the words with keys in this environment", () => {
  const nine = layoutOf(MOVES);
  const all = speechHelp(nine, ["", "up", "yes", "no", "0", "1", "8", "more"]);
  assert.match(all, /Hold Shift with/);
  assert.match(all, /press Y, N, M, 0 to 8 to say/);
  const few = speechHelp(layoutOf(["left", "right"]), ["", "hello"]);
  assert.equal(few, "Use the buttons to say a word; Backspace clears the word.");
});
