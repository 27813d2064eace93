import assert from "node:assert/strict";
import test from "node:test";
import { decode } from "../../../sts/viewer/episode.mjs";
import { PLAYBACK_KEYS, actionsOf } from "../../../sts/viewer/keys.mjs";
import { Playback, viewOf } from "../../../sts/viewer/playback.mjs";
import { filmed, payload } from "./fixtures.mjs";

// An episode of ten steps with its takeover at 4, without an annotator.
function opened({ autoplay = false, speed = 8, pictured, says } = {}) {
  const playback = new Playback({ settings: { autoplay, speed }, pictured });
  const messages = [];
  playback.say = (text) => messages.push(text);
  playback.open(viewOf(decode(pictured ? filmed("e") : payload("e", { says }))), 0);
  return { playback, messages };
}

test("keys navigate an episode without an annotator", () => {
  const { playback } = opened();
  const actionOf = actionsOf(PLAYBACK_KEYS);
  const shown = [["End"], ["t"], ["ArrowRight", true], ["ArrowLeft"], ["Home"]].map(([key, shiftKey]) => {
    playback.act(actionOf({ key, shiftKey }), 0);
    return playback.frame;
  });
  assert.deepEqual(shown, [10, 4, 10, 9, 0]);
  assert.equal(playback.act({ name: "success" }, 0), false, "a verdict is nothing to it");
  assert.equal(playback.act({ name: "seek", frame: 7 }, 0), true);
  assert.deepEqual([playback.frame, playback.step], [7, 3]);
});

test("keys do nothing without an episode", () => {
  const playback = new Playback();
  playback.open(null, 0);
  for (const name of ["play", "forward", "seek", "later"]) assert.equal(playback.act({ name }, 0), false);
  assert.deepEqual([playback.frame, playback.tick(1000), playback.watchedShare], [0, false, 0]);
});

test("an episode plays from its first frame once its pictures arrive", () => {
  const seen = { state: "coming" };
  const { playback } = opened({ autoplay: true, pictured: () => seen.state });
  assert.equal(playback.playing, true);
  assert.equal(playback.tick(5000), false);
  seen.state = "here";
  assert.equal(playback.tick(5001), false);
  assert.deepEqual([playback.frame, playback.tick(5200), playback.frame], [0, true, 1]);
});

test("playback waits for the next picture", () => {
  const last = { there: 6 };
  const { playback } = opened({ autoplay: true, pictured: (_, frame) => (frame <= last.there ? "here" : "coming") });
  for (let now = 1; now < 9000; now += 100) playback.tick(now);
  assert.deepEqual([playback.frame, playback.playing], [7, true]);
  last.there = 10;
  for (let now = 9000; now < 18000; now += 100) playback.tick(now);
  assert.deepEqual([playback.frame, playback.playing], [10, false]);
});

test("a frame counts as watched only with its picture", () => {
  const seen = { state: "coming" };
  const { playback } = opened({ pictured: () => seen.state });
  playback.go(6, 0);
  playback.go(7, 0);
  assert.equal(playback.watchedShare, 0);
  seen.state = "here";
  playback.arrived();
  assert.equal(playback.watchedShare, 1 / 6);
});

test("keys jump to utterances in order, or show that there are none", () => {
  const { playback, messages } = opened({ says: { 1: 1, 6: 2 } });
  const frames = ["later", "later", "later", "earlier", "earlier"].map((name) => playback.act({ name }, 0) && playback.frame);
  assert.deepEqual(frames, [2, 7, 7, 2, 2]);
  assert.deepEqual(messages, ["No later utterance.", "No earlier utterance."]);
});

test("a view resumes at its last frame", () => {
  const { playback } = opened({ autoplay: true });
  const { view } = playback;
  playback.go(8, 0);
  playback.open(viewOf(decode(payload("other"))), 0);
  assert.equal(playback.playing, true);
  playback.open(view, 0);
  assert.deepEqual([playback.frame, playback.playing], [8, false]);
});

const played = (playback, count) => {
  const frames = [];
  for (let now = 0; frames.length < count; now += 10) if (playback.tick(now)) frames.push(playback.frame);
  return frames;
};

test("the steps around the marker loop until the frame changes", () => {
  const { playback } = opened({ speed: 30 });
  playback.marked = () => 7;
  playback.act({ name: "loop" }, 0);
  assert.equal(playback.frame, 2);
  assert.deepEqual(played(playback, 11), [3, 4, 5, 6, 7, 8, 9, 10, 2, 3, 4]);
  playback.act({ name: "play" }, 0);
  assert.deepEqual([playback.playing, playback.around], [false, { from: 2, to: 10 }], "a pause leaves it");
  playback.act({ name: "back" }, 0);
  assert.deepEqual([playback.playing, playback.around], [false, null]);
});

test("without a marker the loop is around the current frame, and L ends it", () => {
  const { playback } = opened();
  playback.act({ name: "seek", frame: 1 }, 0);
  playback.act({ name: "loop" }, 0);
  assert.deepEqual([playback.frame, playback.around], [0, { from: 0, to: 6 }]);
  playback.act({ name: "loop" }, 0);
  assert.deepEqual([playback.playing, playback.around], [false, null]);
});

test("W plays from the start of the context", () => {
  const { playback } = opened();
  playback.act({ name: "end" }, 0);
  playback.act({ name: "watch" }, 0);
  assert.deepEqual([playback.frame, playback.playing], [0, true]);
});
