import assert from "node:assert/strict";
import test from "node:test";
import { Seat, layoutOf, seatAction } from "../../../annotator_app/components/seat_state.mjs";
import { Storage } from "./fixtures.mjs";

const MOVES = ["up-left", "up", "up-right", "left", "stay", "right", "down-left", "down", "down-right"];
const TOKENS = ["", "yes", "no", "up", "0", "more"];

const view = (played, more = {}) => ({
  seat: "one", played, received: played, takeover: 2, horizon: 3, given_at: 1, instruction: "go", finished: played === 3,
  moves: MOVES, tokens: TOKENS, frames: Array.from({ length: 3 + played }, (_, frame) => ({ frame })), ...more,
});

function seated(storage = new Storage()) {
  const seat = new Seat({ storage, namespace: "place:1" });
  seat.receive(view(0));
  return seat;
}

const ready = (storage) => {
  const seat = seated(storage);
  seat.act({ name: "now" });
  return seat;
};

test("the context is watched first, and the instruction comes when it was given", () => {
  const seat = seated();
  assert.deepEqual([seat.frame, seat.playing, seat.myTurn, seat.instruction], [0, true, false, null]);
  assert.equal(seat.act({ name: "move", move: "up" }), false);
  seat.tick();
  assert.equal(seat.instruction, "go");
  seat.tick();
  assert.deepEqual([seat.frame, seat.playing, seat.myTurn], [2, false, true]);
});

test("a move takes the chosen word with it, once", () => {
  const seat = ready();
  seat.act({ name: "say", word: "no" });
  assert.equal(seat.act({ name: "move", move: "right" }), true);
  seat.receive(view(1));
  seat.act({ name: "move", move: "stay" });
  assert.deepEqual(seat.turns, [[5, 2], [4, 0]]);
});

test("no second move before the first one is shown", () => {
  const seat = ready();
  seat.act({ name: "move", move: "up" });
  assert.equal(seat.act({ name: "move", move: "up" }), false);
  assert.deepEqual(seat.turns, [[1, 0]]);
  seat.receive(view(1));
  assert.equal(seat.act({ name: "move", move: "up" }), true);
});

test("a word chosen twice is taken back, and an unknown one is not said", () => {
  const seat = ready();
  seat.act({ name: "say", word: "yes" });
  seat.act({ name: "say", word: "yes" });
  assert.equal(seat.word, 0);
  seat.act({ name: "say", word: "8" });
  assert.equal(seat.word, 0);
});

test("a reload goes on where the person was", () => {
  const storage = new Storage();
  const before = ready(storage);
  before.act({ name: "move", move: "up" });
  const after = new Seat({ storage, namespace: "place:1" });
  after.receive(view(0));
  assert.deepEqual(after.turns, [[1, 0]]);
  assert.equal(after.myTurn, false, "the server has not replayed it yet");
  after.receive(view(1));
  assert.deepEqual([after.frame, after.myTurn], [3, true]);
});

test("an old view, or a server that has forgotten, takes no turn away", () => {
  const seat = ready();
  seat.act({ name: "move", move: "up" });
  seat.receive(view(1));
  seat.act({ name: "move", move: "up" });
  seat.receive(view(1));
  seat.receive(view(0));
  assert.equal(seat.turns.length, 2);
});

test("a server that has forgotten takes away no frame that one looks back at", () => {
  const seat = ready();
  for (const played of [1, 2, 3]) {
    seat.act({ name: "move", move: "up" });
    seat.receive(view(played, { finished: false }));
  }
  seat.act({ name: "back" });
  seat.receive(view(0));
  assert.ok(seat.view.frames[seat.frame], `there is no frame ${seat.frame}`);
  seat.receive(view(3, { finished: false }));
  assert.deepEqual([seat.turns.length, seat.frame], [3, 5]);
});

test("a turn that the server refused is taken back", () => {
  const seat = ready();
  seat.act({ name: "move", move: "up" });
  seat.receive(view(0, { received: 1 }));
  assert.deepEqual([seat.turns, seat.myTurn], [[], true]);
});

test("a finished seat is forgotten by the browser, and the next one begins at its start", () => {
  const storage = new Storage();
  const seat = ready(storage);
  for (const played of [1, 2, 3]) {
    seat.act({ name: "move", move: "up" });
    seat.receive(view(played));
  }
  assert.equal(storage.length, 0);
  assert.equal(seat.act({ name: "move", move: "up" }), false);
  seat.receive(view(0, { seat: "two" }));
  assert.deepEqual([seat.turns, seat.frame, seat.playing], [[], 0, true]);
});

test("one can look back, but moves only from the latest step", () => {
  const seat = ready();
  seat.act({ name: "back" });
  assert.deepEqual([seat.frame, seat.myTurn], [1, false]);
  assert.equal(seat.act({ name: "move", move: "up" }), false);
  assert.match(seat.message, /latest step/);
});

test("keys move, with Shift they speak, and the keypad moves while the digit row speaks", () => {
  assert.deepEqual(seatAction({ key: "q" }), { name: "move", move: "up-left" });
  assert.deepEqual(seatAction({ key: "Q", shiftKey: true }), { name: "say", word: "up-left" });
  assert.deepEqual(seatAction({ key: "3", code: "Numpad3" }), { name: "move", move: "down-right" });
  assert.deepEqual(seatAction({ key: "3", code: "Digit3" }), { name: "say", word: "3" });
  assert.equal(seatAction({ key: "9", code: "Digit9" }), null);
  assert.equal(seatAction({ key: "w", ctrlKey: true }), null);
  assert.equal(seatAction({ key: "w", repeat: true }), null);
});

test("the moves of another world have keys: ways by their names, the others in order", () => {
  const maze = layoutOf(["left", "right", "forward", "pickup", "drop", "toggle", "done"]);
  assert.deepEqual(maze, { a: "left", d: "right", w: "forward", e: "pickup", q: "drop", f: "toggle", x: "done" });
  assert.deepEqual(seatAction({ key: "e" }, maze), { name: "move", move: "pickup" });
  assert.deepEqual(seatAction({ key: "4", code: "Numpad4" }, maze), { name: "move", move: "left" });
  assert.equal(seatAction({ key: "z" }, maze), null);
});

test("no two of many moves share a key, and none takes a control's or Streamlit's", () => {
  const many = Array.from({ length: 127 }, (_, i) => `move ${i}`);
  const keys = Object.keys(layoutOf([...many, "up", "north", "forward"]));
  assert.equal(new Set(keys).size, keys.length);
  assert.deepEqual(keys.filter((key) => ["t", "r", "c", "y", "n", "m"].includes(key)), []);
  assert.equal(layoutOf(MOVES).q, "up-left");
});

test("the frame in view is found in the sheets that came", () => {
  const seat = seated();
  assert.equal(seat.picture, null);
  const sheets = [{ webp: "context", columns: 2, count: 3 }, { webp: "first", columns: 1, count: 1 }];
  seat.act({ name: "now" });
  seat.act({ name: "move", move: "up" });
  seat.receive(view(1, { sheets }));
  assert.deepEqual(seat.picture, { webp: "first", columns: 1, count: 1, at: 1, index: 0 });
  seat.act({ name: "back" });
  assert.deepEqual(seat.picture, { webp: "context", columns: 2, count: 3, at: 0, index: 2 });
});

test("without a scenario nothing plays and no key does anything", () => {
  const seat = new Seat({ storage: new Storage(), namespace: "place:1" });
  seat.receive({ seat: null });
  assert.equal(seat.tick(), false);
  assert.equal(seat.act({ name: "move", move: "up" }), false);
});
