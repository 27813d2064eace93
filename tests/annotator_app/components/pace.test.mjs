import assert from "node:assert/strict";
import test from "node:test";
import { describePace } from "../../../annotator_app/sts_annotator_app/components/pace.mjs";

test("no pace is shown before enough answers", () => {
  assert.deepEqual(describePace({ done: 40, today: 0, seconds: 0, left: 100 }), []);
  assert.deepEqual(describePace({ done: 40, today: 1, seconds: 8, left: 100 }), ["1 today"]);
  assert.deepEqual(describePace({ done: 40, today: 9, seconds: 90, left: 100 }), ["9 today in 2 active minutes"]);
});

test("an estimate has two digits and names the remaining work", () => {
  const say = (counts) => describePace({ done: 0, ...counts })[1];
  assert.equal(
    say({ today: 12, seconds: 120, left: 1234 }),
    "about 1200 judgements remaining for all annotators, about 3 hours of work at this pace",
  );
  assert.match(say({ today: 10, seconds: 100, left: 77 }), /about 77 judgements .* about 13 minutes/);
  assert.match(say({ today: 10, seconds: 50, left: 1 }), /about 1 judgement remaining .* about a minute/);
  assert.equal(say({ today: 10, seconds: 50, left: 0 }), undefined);
  assert.equal(say({ today: 10, seconds: 0, left: 5 }), undefined);
});
