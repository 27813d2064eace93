import assert from "node:assert/strict";
import test from "node:test";
import { Activity, PLAYED, THOUGHT } from "../../../annotator_app/sts_annotator_app/components/activity.mjs";

test("short pauses count fully and long pauses up to a limit", () => {
  const activity = new Activity(0);
  assert.equal(activity.spent(4000, false), 4000);
  activity.touch(4000);
  assert.equal(activity.spent(4000 + 3600_000, false), THOUGHT);
  assert.equal(activity.spent(5000 + 3600_000, false), 0, "nothing more until something is done");
  activity.touch(5000 + 3600_000);
  assert.equal(activity.spent(7000 + 3600_000, false), 2000);
});

test("the time spent does not depend on how often it is read", () => {
  const [often, rarely] = [new Activity(0), new Activity(0)];
  let sum = 0;
  for (let now = 0; now <= 60_000; now += 250) sum += often.spent(now, false);
  assert.deepEqual([sum, rarely.spent(60_000, false)], [THOUGHT, THOUGHT]);
});

test("playback counts as time spent up to a limit", () => {
  const activity = new Activity(0);
  assert.equal(activity.spent(30_000, true), 30_000);
  assert.equal(activity.spent(3600_000, true), PLAYED - 30_000);
});

test("a hidden page counts no time", () => {
  const activity = new Activity(0);
  activity.visible = false;
  activity.touch(1000);
  assert.equal(activity.spent(2000, true), 0);
  activity.visible = true;
  activity.touch(2000);
  assert.equal(activity.spent(3000, false), 1000);
});
