import assert from "node:assert/strict";
import test from "node:test";
import { Heartbeat, Turn } from "../../../annotator_app/sts_annotator_app/components/tabs.mjs";
import { Storage } from "./fixtures.mjs";

const tick = () => new Promise((resolve) => setTimeout(resolve));

test("the second tab becomes active when the first closes", () => {
  const storage = new Storage();
  const [one, two] = ["one", "two"].map((tab) => new Heartbeat(storage, "place:1", tab));
  assert.equal(one.beat(1000), false, "not before it has seen its own sign");
  assert.equal(one.beat(1060), true);
  assert.deepEqual([two.beat(1500), two.beat(5000)], [false, false]);
  one.end();
  assert.deepEqual([two.beat(5100), two.beat(5160)], [false, true]);
});

test("only one of two simultaneous tabs becomes active", () => {
  const storage = new Storage();
  const [one, two] = ["one", "two"].map((tab) => new Heartbeat(storage, "place:1", tab));
  one.beat(1000);
  storage.entries.clear(); // the second one has not heard of the first yet
  two.beat(1001);
  assert.deepEqual([one.beat(1060), two.beat(1061)], [false, true]);
});

test("a tab that slept too long is no longer active", () => {
  const storage = new Storage();
  const [one, two] = ["one", "two"].map((tab) => new Heartbeat(storage, "place:1", tab));
  one.beat(0), one.beat(60);
  two.beat(60000);
  assert.equal(two.beat(60060), true);
  assert.equal(one.beat(60500), false);
});

test("neither tabs of other people nor a full storage block a tab", () => {
  const storage = new Storage();
  for (const name of ["place:1", "place:2"]) {
    const heart = new Heartbeat(storage, name, name);
    heart.beat(0);
    assert.equal(heart.beat(60), true);
  }
  storage.full = true;
  assert.equal(new Heartbeat(storage, "place:3", "x").beat(0), true);
});

// As browsers have it: who asks for a lock is called when those before have let it go.
class Locks {
  last = Promise.resolve();
  request(name, { signal }, hold) {
    const mine = this.last.then(() => (signal.aborted ? null : hold()));
    this.last = mine;
    return mine;
  }
}

test("with a lock, the next tab becomes active when the previous one closes", async () => {
  const locks = new Locks();
  const said = [];
  const [one, two, three] = ["one", "two", "three"].map(
    (tab) => new Turn({ name: "place:1", storage: null, tab, locks, gained: () => said.push(tab), lost: () => {} }),
  );
  await tick();
  assert.deepEqual([said, one.held, two.held], [["one"], true, false]);
  two.end();
  one.end();
  await tick();
  assert.deepEqual([said, one.held, three.held], [["one", "three"], false, true]);
});
