import assert from "node:assert/strict";
import test from "node:test";
import { colourIn } from "../../../sts/viewer/draw_frame.mjs";
import { decode, spriteOf } from "../../../sts/viewer/episode.mjs";
import { Film } from "../../../sts/viewer/film.mjs";
import { filmed } from "./fixtures.mjs";

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

function film() {
  const decoding = new Map();
  const closed = [];
  const made = new Film(
    () => (made.changes = (made.changes ?? 0) + 1),
    (text) => new Promise((resolve, reject) => decoding.set(text, {
      done: () => resolve({ text, close: () => closed.push(text) }),
      fail: () => reject(new Error("no picture")),
    })),
    0,
  );
  return { made, decoding, closed };
}

test("each sprite is decoded once, the visible one first, and then cached", async () => {
  const { made, decoding } = film();
  made.keep(["a"]);
  made.keep(["a"], ["b"]);
  assert.deepEqual([made.bitmap("a"), [...decoding.keys()]], [null, ["a"]]);
  await settled();
  decoding.get("a").done();
  await settled();
  assert.equal(made.bitmap("a").text, "a");
  assert.deepEqual([made.bitmap("b"), made.changes, decoding.size], [null, 1, 2]);
});

test("unneeded pictures are released, even when they arrive late", async () => {
  const { made, decoding, closed } = film();
  made.keep(["a", "b"]);
  decoding.get("a").done();
  await settled();
  made.keep(["c"]);
  await settled();
  decoding.get("b").done();
  await settled();
  assert.deepEqual(closed, ["a", "b"]);
  assert.deepEqual([made.bitmap("a"), made.bitmap("b"), made.changes], [null, null, 1]);
});

test("a sprite that is requested again keeps one picture and releases the other", async () => {
  const arriving = [];
  const open = new Set();
  const arrive = () => {
    const bitmap = { close: () => open.delete(bitmap) };
    open.add(bitmap);
    return bitmap;
  };
  const made = new Film(() => {}, () => new Promise((...ends) => arriving.push(ends)), 0);
  for (const wanted of [["a"], [], ["a"]]) {
    made.keep(wanted);
    await settled();
  }
  assert.equal(arriving.length, 2);
  for (const [resolve] of arriving) resolve(arrive());
  await settled();
  assert.deepEqual([...open], [made.bitmap("a")]);
  made.close();
  assert.equal(open.size, 0);
});

test("a sprite whose first decoding failed is shown after a second attempt", async () => {
  for (const failing of [0, 1]) {
    const arriving = [];
    const made = new Film(() => {}, () => new Promise((...ends) => arriving.push(ends)), 0);
    for (const wanted of [["a"], [], ["a"]]) {
      made.keep(wanted);
      await settled();
    }
    arriving.forEach(([resolve, reject], i) => (i === failing ? reject(new Error("no picture")) : resolve({ i })));
    await settled();
    assert.deepEqual([made.bitmap("a"), made.isBroken("a")], [{ i: 1 - failing }, false]);
  }
});

test("a sprite that cannot be decoded is reported as broken", async () => {
  const { made, decoding } = film();
  made.keep(["a"]);
  assert.equal(made.isBroken("a"), false);
  decoding.get("a").fail();
  await settled();
  assert.deepEqual([made.isBroken("a"), made.bitmap("a"), made.isBroken(undefined)], [true, null, false]);
});

test("a frame is found in its sprite, and no frame is found past the last", () => {
  const { sprites } = filmed("e");
  const places = [0, 6, 7, 10].map((frame) => spriteOf(sprites, frame));
  assert.deepEqual(places.map(({ at, index }) => [at, index]), [[0, 0], [0, 6], [1, 0], [1, 3]]);
  assert.deepEqual([spriteOf(sprites, 11), spriteOf(undefined, 0)], [null, null]);
});

test("an episode with fewer pictures than scenes is rejected", () => {
  const { sprites, ...rest } = filmed("short");
  for (const some of [sprites.slice(0, 1), []])
    assert.throws(() => decode({ ...rest, sprites: some }), /episode short: [07] scenes for 10 steps/);
});

test("frames need no cells and still have utterances", () => {
  const episode = decode(filmed("e", { says: { 4: 1 } }));
  assert.equal(episode.scene, null);
  assert.equal(episode.utterances[0].text, "yes");
});

test("a name that contains a colour gives the colour", () => {
  assert.deepEqual(["Blue hat", "the red one", "agent", "redhead"].map(colourIn), ["#0072B2", "#F03030", null, null]);
});
