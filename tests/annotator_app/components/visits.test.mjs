import assert from "node:assert/strict";
import test from "node:test";
import { payload, press, session, Storage } from "./fixtures.mjs";

const seek = (frame) => ({ name: "seek", frame });
const again = (storage, more) => session({ storage, ...more });

test("a reloaded page restores marker, watched frames, time and frame", () => {
  const storage = new Storage();
  const d = session({ storage });
  press(d, seek(5), seek(7), "failure");
  d.spend(4200);
  d.keep();
  const other = again(storage);
  for (const part of ["frame", "mark", "watched", "spent", "corrects"]) assert.deepEqual(other.visit[part], d.visit[part]);
  assert.match(other.message.text, /Restored: Failure at step 3/);
  press(other, "submit");
  const [sent] = other.outbox.all();
  assert.deepEqual([sent.step, sent.seconds, sent.watched], [3, 4.2, 0.333]);
});

test("the stored episode is shown first, wherever it is in the queue", () => {
  const storage = new Storage();
  const d = session({ storage });
  press(d, seek(5), "success");
  d.keep();
  const other = again(storage, { ids: ["two", "three", "one"] });
  assert.equal(other.visit.episode.id, "one");
  assert.deepEqual(other.queue.map((one) => one.id), ["two", "three"]);
});

test("a stored visit is removed once acknowledged, and kept when rejected", () => {
  for (const status of ["saved", "rejected"]) {
    const storage = new Storage();
    const d = session({ storage });
    press(d, seek(5), "success");
    d.keep();
    press(d, "submit");
    const [{ uuid }] = d.outbox.all();
    const kept = () => [...storage.entries.keys()].filter((key) => key === "sts:visit:place:1:one").length;
    assert.equal(kept(), 1);
    d.receive({ acks: [{ uuid, status, message: "why" }], queue: null }, 0);
    assert.equal(kept(), status === "rejected" ? 1 : 0);
  }
});

test("a correction resumes after a reload, before the episode it interrupted", () => {
  const storage = new Storage();
  const d = session({ storage });
  press(d, "end", "success", "submit");
  const [{ uuid }] = d.outbox.all();
  d.receive({ acks: [{ uuid, status: "saved", message: "" }], queue: null }, 0);
  press(d, seek(5), "failure", "previous", seek(6), "failure");
  d.keep();
  const other = again(storage, { ids: [] });
  const earlier = { episode: payload("one"), uuid, mark: { verdict: "success", step: 6, reason: null } };
  other.receive({ acks: [], queue: ["two", "three"].map((id) => payload(id)), previous: [earlier] }, 0);
  assert.deepEqual([other.visit.episode.id, other.visit.mark.step, other.visit.corrects], ["one", 2, uuid]);
  press(other, "cancel");
  assert.deepEqual([other.visit.episode.id, other.visit.mark.verdict], ["two", "failure"]);
  press(other, "previous");
  assert.equal(other.visit.mark.verdict, "success", "left as it was");
});

test("invalid stored values are ignored", () => {
  const odd = [
    7, "x", [], { frame: -1, mark: 3 }, { frame: 1e9, watched: 5, spent: "long", mark: { verdict: "success", step: 99 } },
    { watched: [0, 4, 11, "7", null], mark: { verdict: "toString", step: null, reason: null }, spent: -1 },
    { mark: { verdict: "not_done", step: 3, reason: null } }, { mark: { verdict: "cannot_judge", step: null, reason: 5 } },
    { corrects: "f".repeat(32), mark: { verdict: "not_done", step: null, reason: null } },
  ];
  for (const one of odd) {
    const storage = new Storage();
    storage.setItem("sts:visit:place:1:one", JSON.stringify(one));
    const { visit } = session({ storage });
    assert.deepEqual([visit.frame, visit.mark, visit.spent, visit.watched.size], [0, null, 0, 0], JSON.stringify(one));
  }
});

test("only the latest unanswered visits are stored", () => {
  const storage = new Storage();
  for (let n = 0; n < 100; n++) storage.setItem(`sts:visit:place:1:${n}`, JSON.stringify({ at: n + 1 }));
  storage.setItem("sts:visit:place:2:0", "{}");
  session({ storage });
  const left = [...storage.entries.keys()];
  assert.equal(left.length, 61);
  assert.ok(left.includes("sts:visit:place:1:99") && !left.includes("sts:visit:place:1:39"));
});
