import assert from "node:assert/strict";
import test from "node:test";
import { Turns, layoutOf, speechHelp, turnAction } from "../../../annotator_app/sts_annotator_app/components/turns.mjs";
import { Storage } from "./fixtures.mjs";

const MOVES = ["up-left", "up", "up-right", "left", "stay", "right", "down-left", "down", "down-right"];
const TOKENS = ["", "yes", "no", "up", "0", "more"];

const view = (played, more = {}) => ({
  session: "one", first: 0, turns: [], played, received: played, takeover: 2, horizon: 3, instructions: [{ text: "go", given_at: 1 }], finished: played === 3,
  moves: MOVES, tokens: TOKENS, frames: Array.from({ length: 3 + played }, (_, frame) => ({ frame })), ...more,
});

function atPlay(storage = new Storage()) {
  const play = new Turns({ storage, namespace: "place:1" });
  play.receive(view(0));
  return play;
}

const ready = (storage) => {
  const play = atPlay(storage);
  play.act({ name: "now" });
  return play;
};

test("the context is watched first, and the instruction appears at its step", () => {
  const play = atPlay();
  assert.deepEqual([play.frame, play.playing, play.myTurn, play.instruction], [0, true, false, null]);
  assert.equal(play.act({ name: "move", move: "up" }), false);
  play.tick();
  assert.equal(play.instruction, "go");
  play.tick();
  assert.deepEqual([play.frame, play.playing, play.myTurn], [2, false, true]);
});

test("an action sends the chosen word once", () => {
  const play = ready();
  play.act({ name: "say", word: "no" });
  assert.equal(play.act({ name: "move", move: "right" }), true);
  play.receive(view(1));
  play.act({ name: "move", move: "stay" });
  assert.deepEqual(play.turns, [[5, 2], [4, 0]]);
});

test("a second action waits until the first is shown", () => {
  const play = ready();
  play.act({ name: "move", move: "up" });
  assert.equal(play.act({ name: "move", move: "up" }), false);
  assert.deepEqual(play.turns, [[1, 0]]);
  play.receive(view(1));
  assert.equal(play.act({ name: "move", move: "up" }), true);
});

test("a word chosen twice is deselected, and an unknown one is not sent", () => {
  const play = ready();
  play.act({ name: "say", word: "yes" });
  play.act({ name: "say", word: "yes" });
  assert.equal(play.word, 0);
  play.act({ name: "say", word: "8" });
  assert.equal(play.word, 0);
});

test("a reload resumes at the same step", () => {
  const storage = new Storage();
  const before = ready(storage);
  before.act({ name: "move", move: "up" });
  const after = new Turns({ storage, namespace: "place:1" });
  after.receive(view(0));
  assert.deepEqual(after.turns, [[1, 0]]);
  assert.equal(after.myTurn, false, "the server has not replayed it yet");
  after.receive(view(1));
  assert.deepEqual([after.frame, after.myTurn], [3, true]);
});

test("an old message or a restarted server removes no turn", () => {
  const play = ready();
  play.act({ name: "move", move: "up" });
  play.receive(view(1));
  play.act({ name: "move", move: "up" });
  play.receive(view(1));
  play.receive(view(0));
  assert.equal(play.turns.length, 2);
});

test("a restarted server removes no frame in view", () => {
  const play = ready();
  for (const played of [1, 2, 3]) {
    play.act({ name: "move", move: "up" });
    play.receive(view(played, { finished: false }));
  }
  play.act({ name: "back" });
  play.receive(view(0));
  assert.ok(play.view.frames[play.frame], `there is no frame ${play.frame}`);
  play.receive(view(3, { finished: false }));
  assert.deepEqual([play.turns.length, play.frame], [3, 5]);
});

// What a server sends that was told of `frames` frames: those after them, and the turns that led there.
const since = (frames, turns, more = {}) => {
  const whole = view(turns.length);
  return { ...whole, first: frames, frames: whole.frames.slice(frames), turns: turns.slice(Math.max(0, frames - 3)), ...more };
};

test("a page sends the turns since the frames it has, and is sent the frames since", () => {
  const play = ready();
  assert.deepEqual([play.state.frames, play.state.turns], [3, []]);
  play.act({ name: "move", move: "up" });
  assert.deepEqual([play.state.frames, play.state.turns, play.behind], [3, [[1, 0]], true]);
  play.receive(since(3, [[1, 0]]));
  assert.deepEqual(play.view.frames, view(1).frames);
  assert.deepEqual([play.state.frames, play.state.turns, play.behind, play.myTurn], [4, [], false, true]);
  play.act({ name: "move", move: "stay" });
  play.receive(since(4, [[1, 0], [4, 0]]));
  assert.deepEqual(play.view.frames, view(2).frames);
  assert.deepEqual(play.turns, [[1, 0], [4, 0]]);
});

test("the same answer twice, or an earlier one late, adds no frame and takes no turn", () => {
  const play = ready();
  play.act({ name: "move", move: "up" });
  play.receive(since(3, [[1, 0]]));
  play.receive(since(3, [[1, 0]]));
  assert.deepEqual(play.view.frames, view(1).frames);
  play.act({ name: "move", move: "stay" });
  play.receive(since(3, [[1, 0]]));
  assert.deepEqual([play.turns.length, play.behind], [2, true]);
  play.receive(since(4, [[1, 0], [4, 0]]));
  assert.deepEqual([play.view.frames.length, play.myTurn], [5, true]);
});

test("a reopened page that receives later frames requests all frames", () => {
  const storage = new Storage();
  ready(storage).act({ name: "move", move: "up" });
  const after = new Turns({ storage, namespace: "place:1" });
  after.receive(since(4, [[1, 0]]));
  assert.deepEqual([after.behind, after.myTurn, after.state.frames, after.state.turns], [true, false, 0, [[1, 0]]]);
  after.receive(since(0, [[1, 0]]));
  assert.deepEqual([after.frame, after.myTurn, after.behind], [3, true, false]);
});

test("a restarted server receives every turn again", () => {
  const play = ready();
  const made = [[1, 0], [4, 0]];
  for (const [n, name] of ["up", "stay"].entries()) {
    play.act({ name: "move", move: name });
    play.receive(since(3 + n, made.slice(0, n + 1)));
  }
  play.receive(since(0, [], { received: 0 }));
  assert.deepEqual([play.behind, play.state.frames, play.state.turns], [true, 3, made]);
  play.receive(since(3, made));
  assert.deepEqual([play.view.frames.length, play.myTurn], [5, true]);
});

test("turns of another page are adopted", () => {
  const elsewhere = ready();
  elsewhere.receive(since(0, [[1, 0], [4, 0]]));
  assert.deepEqual([elsewhere.turns, elsewhere.frame, elsewhere.myTurn], [[[1, 0], [4, 0]], 4, true]);
  const other = ready();
  other.act({ name: "move", move: "left" });
  other.receive(since(3, [[1, 0]], { received: 1 }));
  assert.deepEqual([other.turns, other.myTurn], [[[1, 0]], true]);
});

test("a rejected turn is reverted", () => {
  const play = ready();
  play.act({ name: "move", move: "up" });
  play.receive(view(0, { received: 1 }));
  assert.deepEqual([play.turns, play.myTurn], [[], true]);
});

test("a finished session is removed from storage, and the next one starts at its beginning", () => {
  const storage = new Storage();
  const play = ready(storage);
  for (const played of [1, 2, 3]) {
    play.act({ name: "move", move: "up" });
    play.receive(view(played));
  }
  assert.equal(storage.length, 0);
  assert.equal(play.act({ name: "move", move: "up" }), false);
  play.receive(view(0, { session: "two" }));
  assert.deepEqual([play.turns, play.frame, play.playing], [[], 0, true]);
});

test("earlier frames can be viewed, but actions need the latest", () => {
  const play = ready();
  play.act({ name: "back" });
  assert.deepEqual([play.frame, play.myTurn], [1, false]);
  assert.equal(play.act({ name: "move", move: "up" }), false);
  assert.match(play.message, /latest step/);
});

test("keys and the keypad act, and Shift and the digit row speak", () => {
  assert.deepEqual(turnAction({ key: "q" }), { name: "move", move: "up-left" });
  assert.deepEqual(turnAction({ key: "Q", shiftKey: true }), { name: "say", word: "up-left" });
  assert.deepEqual(turnAction({ key: "3", code: "Numpad3" }), { name: "move", move: "down-right" });
  assert.deepEqual(turnAction({ key: "3", code: "Digit3" }), { name: "say", word: "3" });
  assert.equal(turnAction({ key: "9", code: "Digit9" }), null);
  assert.equal(turnAction({ key: "w", ctrlKey: true }), null);
  assert.equal(turnAction({ key: "w", repeat: true }), null);
});

test("actions of other environments get keys by name or in order", () => {
  const maze = layoutOf(["left", "right", "forward", "pickup", "drop", "toggle", "done"]);
  assert.deepEqual(maze, { a: "left", d: "right", w: "forward", e: "pickup", q: "drop", f: "toggle", x: "done" });
  assert.deepEqual(turnAction({ key: "e" }, maze), { name: "move", move: "pickup" });
  assert.deepEqual(turnAction({ key: "4", code: "Numpad4" }, maze), { name: "move", move: "left" });
  assert.equal(turnAction({ key: "z" }, maze), null);
});

test("action keys are unique and avoid those of controls and Streamlit", () => {
  const many = Array.from({ length: 127 }, (_, i) => `move ${i}`);
  const keys = Object.keys(layoutOf([...many, "up", "north", "forward"]));
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(keys.filter((key) => ["t", "r", "c", "y", "n", "m"].includes(key)), []);
  assert.equal(layoutOf(MOVES).q, "up-left");
});

test("the frame in view is found in the received sprites", () => {
  const play = atPlay();
  assert.equal(play.sprite, null);
  const sprites = [{ webp: "context", columns: 2, count: 3 }, { webp: "first", columns: 1, count: 1 }];
  play.act({ name: "now" });
  play.act({ name: "move", move: "up" });
  play.receive(view(1, { sprites }));
  assert.deepEqual(play.sprite, { webp: "first", columns: 1, count: 1, at: 1, index: 0 });
  const second = { webp: "second", columns: 1, count: 1 };
  play.receive(since(4, [[1, 0], [4, 0]], { sprites: [second] }));
  assert.deepEqual(play.view.sprites, [...sprites, second]);
  play.act({ name: "back" });
  play.act({ name: "back" });
  assert.deepEqual(play.sprite, { webp: "context", columns: 2, count: 3, at: 0, index: 2 });
});

test("without a scenario keys do nothing", () => {
  const play = new Turns({ storage: new Storage(), namespace: "place:1" });
  play.receive({ session: null });
  assert.equal(play.tick(), false);
  assert.equal(play.act({ name: "move", move: "up" }), false);
});

test("the help lists exactly the words with keys in this environment", () => {
  const nine = layoutOf(MOVES);
  const all = speechHelp(nine, ["", "up", "yes", "no", "0", "1", "8", "more"]);
  assert.match(all, /Hold Shift with/);
  assert.match(all, /press Y, N, M, 0 to 8 to say/);
  const few = speechHelp(layoutOf(["left", "right"]), ["", "hello"]);
  assert.equal(few, "Use the buttons to say a word; Backspace clears the word.");
});
