import assert from "node:assert/strict";
import test from "node:test";
import { colourIn } from "../../../annotator_app/components/draw_frame.mjs";
import { decode, pictureOf } from "../../../annotator_app/components/episode.mjs";
import { Desk } from "../../../annotator_app/components/desk.mjs";
import { Film } from "../../../annotator_app/components/film.mjs";
import { Outbox } from "../../../annotator_app/components/outbox.mjs";
import { Storage, filmed, press, random } from "./fixtures.mjs";

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

test("a sheet is decoded once, that in view before the next, and is there from then on", async () => {
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

test("what is no longer needed is let go, even when it arrives late", async () => {
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

test("of a sheet that is dropped and wanted again, one picture is kept and the other let go", async () => {
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

test("a sheet that fails once and comes the second time is there", async () => {
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

test("a sheet that cannot be decoded is said to be broken", async () => {
  const { made, decoding } = film();
  made.keep(["a"]);
  assert.equal(made.isBroken("a"), false);
  decoding.get("a").fail();
  await settled();
  assert.deepEqual([made.isBroken("a"), made.bitmap("a"), made.isBroken(undefined)], [true, null, false]);
});

function waiting() {
  const seen = { ready: false };
  const desk = new Desk({
    outbox: new Outbox(new Storage(), "place:1"), random, settings: { autoplay: true }, ready: () => seen.ready,
  });
  desk.receive({ acks: [], queue: [filmed("one"), filmed("two")], counts: { done: 0 } }, 0);
  return { desk, seen };
}

test("an episode plays from its first frame once its pictures are there, however late", () => {
  const { desk, seen } = waiting();
  assert.equal(desk.playing, true);
  assert.equal(desk.tick(5000), false);
  seen.ready = true;
  assert.equal(desk.tick(5001), false);
  assert.deepEqual([desk.frame, desk.tick(5200), desk.frame], [0, true, 1]);
});

test("nothing is marked in an episode that nobody has seen, but it can be left", () => {
  const { desk } = waiting();
  press(desk, "takeover", "forward", "success", "not_done");
  assert.deepEqual([desk.frame, desk.visit.mark], [0, null]);
  assert.match(desk.message.text, /on their way/);
  press(desk, "cannot_judge", { name: "reason", reason: 2 }, "submit");
  assert.equal(desk.visit.episode.id, "two");
  assert.equal(desk.outbox.all()[0].verdict, "cannot_judge");
});

test("a frame is found in the sheet that has it, and none is found past the last", () => {
  const { sheets } = filmed("e");
  const found = [0, 6, 7, 10].map((frame) => pictureOf(sheets, frame));
  assert.deepEqual(found.map(({ at, index }) => [at, index]), [[0, 0], [0, 6], [1, 0], [1, 3]]);
  assert.deepEqual([pictureOf(sheets, 11), pictureOf(undefined, 0)], [null, null]);
});

test("playing waits where the next sheet is not there yet, and nothing can be marked there", () => {
  const { desk } = waiting();
  const there = new Set([0]);
  desk.ready = ({ sheets }, frame) => there.has(pictureOf(sheets, frame).at);
  for (let now = 1; now < 9000; now += 100) desk.tick(now);
  assert.deepEqual([desk.frame, desk.playing], [7, true]);
  press(desk, "success", "forward");
  assert.deepEqual([desk.frame, desk.visit.mark], [7, null]);
  there.add(1);
  for (let now = 9000; now < 18000; now += 100) desk.tick(now);
  assert.deepEqual([desk.frame, desk.playing], [10, false]);
});

test("an episode with fewer pictures than scenes is left out, since nothing could be shown of its end", () => {
  const { desk } = waiting();
  const { sheets, ...rest } = filmed("short");
  for (const some of [sheets.slice(0, 1), []])
    assert.throws(() => decode({ ...rest, sheets: some }), /episode short: [07] scenes for 10 steps/);
  desk.receive({ acks: [], queue: [{ ...rest, sheets: [] }, filmed("good")], counts: null }, 0);
  assert.deepEqual(desk.queue.map((episode) => episode.id), ["good"]);
});

test("frames need no cells, and their participants speak", () => {
  const episode = decode(filmed("e", { says: { 4: 1 } }));
  assert.equal(episode.scene, null);
  assert.equal(episode.utterances[0].text, "yes");
});

test("a name tells a colour where it has one", () => {
  assert.deepEqual(["Blue hat", "the red one", "agent", "redhead"].map(colourIn), ["#0072B2", "#F03030", null, null]);
});
