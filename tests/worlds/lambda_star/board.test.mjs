import assert from "node:assert/strict";
import test from "node:test";
import { describe, describeSight, displacement, paint, placeOf } from "../../../worlds/lambda_star/sts_lambda_star/board.mjs";

const SIDES = { height: 20, width: 20 };
const scenes = [[7, 300, 0], [7, 300, 19]]; // Good and Evil stay, A steps over the edge to its left
const episode = {
  ...SIDES, names: ["Good", "Evil", "A"], glyphs: ["G", "E", "A"], judged: [2], takeover: 0, steps: 1,
  details: { auras: [[0, 1], [1, -1]] }, scene: (frame) => scenes[frame],
};
const options = { background: "#fff", text: "#222", grid: "#ccc", edge: "#222", dark: false, scale: 1 };

// A canvas that notes what is drawn on it.
function canvas(width, height) {
  const calls = [];
  const x = new Proxy({}, {
    get: (_, name) => (...given) => calls.push([name, ...given]) && { actualBoundingBoxAscent: 8, actualBoundingBoxDescent: 0 },
    set: () => true,
  });
  return { width, height, calls, getContext: () => x };
}

test("motion takes the shorter way round the torus", () => {
  assert.deepEqual(displacement(SIDES, [0, 19], [19, 0]), [-1, 1]);
  assert.deepEqual(displacement(SIDES, [5, 5], [6, 4]), [1, -1]);
});

test("everything is drawn within the canvas, and where it stands is told", () => {
  const board = canvas(500, 400);
  assert.deepEqual(paint(board, episode, 0, options)[2], { x: 60, y: 10, reach: 8.4 });
  const letters = board.calls.filter(([name]) => name === "fillText").map(([, text]) => text);
  assert.deepEqual(letters, ["G", "E", "A"], "the judged one on top");
});

test("a step over the edge is drawn leaving one side and entering at the other", () => {
  const board = canvas(400, 400);
  paint(board, episode, 1, options);
  const ways = board.calls.filter(([name], i) => name === "lineTo" && board.calls[i - 1][0] === "moveTo");
  const [out, into] = ways.slice(-2).map(([, column]) => column);
  assert.deepEqual([out, into], [-10, 390]);
});

test("who is where is said in words, to judges and to who takes a turn", () => {
  assert.equal(describe(episode, 1), "Good in row 1, column 8; Evil in row 16, column 1; A in row 1, column 20");
  const cells = Array.from({ length: 9 }, () => ({ good: false, evil: false, others: 0, reward: 0 }));
  assert.equal(describeSight({ side: 3, cells }), "nothing in view");
  Object.assign(cells[1], { good: true, others: 2 });
  assert.equal(describeSight({ side: 3, cells }), "up: Good, 2 others");
  assert.match(placeOf({ ...SIDES, row: 0, column: 4 }), /row 1, column 5 of 20 × 20/);
});

test("who shares a cell stands on one plate, and who stands alone on none", () => {
  const drawn = (cells) => {
    const { calls, ...board } = canvas(800, 800);
    paint({ ...board, calls }, { ...episode, scene: () => cells }, 0, options);
    return calls.filter(([name]) => name === "roundRect").length;
  };
  assert.equal(drawn([7, 300, 0]), 0);
  assert.equal(drawn([7, 300, 300]), 1);
  assert.equal(drawn([7, 7, 7]), 1);
});

test("what gives and what takes is hatched in two directions, and both signs stand in a shared cell", () => {
  const { calls, ...board } = canvas(800, 800);
  paint({ ...board, calls }, { ...episode, scene: () => [105, 106, 0] }, 0, options);
  const lines = calls.flatMap(([name, x0, y0], i) => {
    const [next, x1, y1] = calls[i + 1] ?? [];
    return name === "moveTo" && next === "lineTo" && Math.abs(x1 - x0) === 40 && Math.abs(y1 - y0) === 40 ? [Math.sign(y1 - y0)] : [];
  });
  assert.deepEqual([lines.filter((one) => one < 0).length, lines.filter((one) => one > 0).length], [63, 63]);
  const signs = calls.filter(([name, text]) => name === "fillText" && "+−".includes(text));
  assert.equal(signs.length, 18);
});

test("a judged object on a crowded cell is drawn large, within the cell and last", () => {
  const board = canvas(800, 800); // cells of 40
  const others = Array.from({ length: 24 }, (_, k) => `P${k}`);
  const crowd = { ...episode, names: ["Good", "Evil", ...others], glyphs: ["G", "E", ...others], judged: [25], scene: () => Array(26).fill(0) };
  paint(board, crowd, 0, options);
  const [, x, y, radius] = board.calls.findLast(([name]) => name === "arc"); // its ring
  assert.ok(radius > 0.25 * 40 && x - radius >= 0 && x + radius <= 40 && y - radius >= 0 && y + radius <= 40, `${x} ${y} ${radius}`);
  const shapes = board.calls.filter(([name]) => name === "closePath" || name === "arc");
  assert.ok(shapes.length > 26);
  const letters = board.calls.filter(([name]) => name === "fillText").map(([, text]) => text);
  assert.equal(letters.at(-1), "P23");
});
