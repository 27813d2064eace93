import assert from "node:assert/strict";
import test from "node:test";
import { decode, instructionAt, placeOf } from "../../../sts/viewer/episode.mjs";
import { payload } from "./fixtures.mjs";

test("scenes are read as little-endian words, row by row", () => {
  const episode = decode(payload("e"));
  assert.deepEqual([...episode.scene(0)], [7, 300, 0]); // more than a byte
  assert.deepEqual([...episode.scene(3)], [7, 300, 3]);
});

test("an utterance during a step is heard in the next frame", () => {
  const episode = decode(payload("e", { says: { 4: 1 } }));
  assert.deepEqual(episode.utterances, [{ frame: 5, object: 2, text: "yes" }]);
});

test("text utterances are heard in the next frame, as tokens are", () => {
  const episode = decode({ ...payload("e"), texts: [[4, 0, "I come."]] });
  assert.deepEqual(episode.utterances, [{ frame: 5, object: 2, text: "I come." }]);
});

test("a scene with a wrong number of frames is rejected", () => {
  assert.throws(() => decode({ ...payload("e"), steps: 9 }), /episode e/);
});

test("the latest instruction given is in force, and the last one is judged", () => {
  const given = [{ text: "wait", given_at: 1 }, { text: "go", given_at: 3 }];
  const episode = decode({ ...payload(), instructions: given });
  assert.deepEqual([0, 1, 2, 3, 5].map((f) => instructionAt(episode, f)), [null, "wait", "wait", "go", "go"]);
  assert.equal(episode.instruction.text, "go");
});

test("an instruction is shown from its step on", () => {
  const episode = decode(payload("e", { givenAt: 3 }));
  assert.equal(instructionAt(episode, 2), null);
  assert.equal(instructionAt(episode, 3), "go");
});

test("steps are counted from the takeover", () => {
  const episode = decode(payload("e"));
  assert.deepEqual(placeOf(episode, 3), ["context", "1 step before takeover"]);
  assert.equal(placeOf(episode, 4)[0], "takeover");
  assert.deepEqual(placeOf(episode, 5), ["continuation", "step 1 of 6"]);
  assert.deepEqual(placeOf(episode, 10), ["continuation", "step 6 of 6"]);
});
