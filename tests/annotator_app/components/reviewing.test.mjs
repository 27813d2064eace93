import assert from "node:assert/strict";
import test from "node:test";
import { Outbox } from "../../../annotator_app/sts_annotator_app/components/outbox.mjs";
import { Playback } from "../../../sts/viewer/playback.mjs";
import { Reviewing } from "../../../annotator_app/sts_annotator_app/components/reviewing.mjs";
import { Visits } from "../../../annotator_app/sts_annotator_app/components/visits.mjs";
import { NAMES_KEY, payload, press, random, Storage, testOnTouchScreen } from "./fixtures.mjs";

const ERRORS = [["empty", "player", "made no attempt"], ["fair", "none", "is right"]];
const HAND = ["frame", "mark", "errorType", "words", "watched", "spent"];
const seek = (frame) => ({ name: "seek", frame });
const said = (text) => ({ name: "words", text });

const send = (session, ids = ["one", "two"]) => {
  const cases = ids.map((id) => ({ episode: payload(id), said: [], about: "outcome", rule: null, remarks: [] }));
  session.receive({ acks: [], cases, queue: session.queue, queues: null, errors: ERRORS, news: [], meanwhile: null }, 0);
};

function reviewing(storage, queue = "disputes") {
  const visits = (name) => new Visits(storage, `review:${name}:place:1`);
  const playback = new Playback({ settings: { autoplay: false } });
  const made = new Reviewing({ outbox: new Outbox(storage, "review:place:1"), visits, random, playback, queue });
  send(made);
  return made;
}

test("a reloaded page restores marker, error type and text of each queue", () => {
  const storage = new Storage();
  const d = reviewing(storage);
  press(d, seek(7), "failure", said("behind <b>it</b>"), { name: "queue" });
  send(d);
  press(d, { name: "reason", at: 1 }, said("is it?"));
  d.spend(4200);
  d.keep();
  const failures = reviewing(storage, "failures");
  for (const part of HAND) assert.deepEqual(failures.visit[part], d.visit[part], part);
  assert.deepEqual([failures.visit.errorType, failures.visit.mark], ["fair", null]);
  assert.match(failures.message.text, /Restored: fair/);
  const disputes = reviewing(storage);
  for (const part of HAND) assert.deepEqual(disputes.visit[part], d.aside.disputes[part], part);
  assert.deepEqual([disputes.visit.words, disputes.visit.mark.step], ["behind <b>it</b>", 3]);
});

testOnTouchScreen("texts of a review on a touch screen speak of buttons", () => {
  for (const [queue, steps] of [
    ["disputes", ["submit", "success", seek(7), "failure", "cannot_judge", "submit", "not_done", "submit", "previous"]],
    ["failures", ["submit", { name: "reason", at: 1 }, "submit", "previous"]],
  ]) {
    const d = reviewing(new Storage(), queue);
    d.greet();
    const texts = [d.message.text];
    for (const step of [...steps, "leave", "submit"]) texts.push((press(d, step), d.message.text));
    for (const text of texts) assert.doesNotMatch(text, NAMES_KEY);
    assert.match(texts[1], /press one of “Success”.*, or “Skip” to skip|choose one, or “Skip” to skip/);
  }
});

test("skipping is cancelled by the same button", () => {
  const d = reviewing(new Storage());
  press(d, "leave");
  assert.equal(d.leaving, true);
  press(d, "leave");
  assert.deepEqual([d.leaving, d.message.text, d.outbox.size], [false, "Cancelled.", 0]);
});

test("a decision clears the stored draft, and a reopened decision stores none", () => {
  const storage = new Storage();
  const d = reviewing(storage);
  const kept = () => [...storage.entries.keys()].filter((key) => key.endsWith(":one") && key.includes("visit")).length;
  press(d, seek(7), "failure");
  d.keep();
  assert.equal(kept(), 1);
  press(d, "submit", "previous", seek(6), "success");
  d.keep();
  assert.equal(kept(), 0);
});

test("invalid stored values are ignored", () => {
  for (const one of [7, [], { frame: 1, errorType: "<b>", words: 5, mark: { verdict: "toString" } }, { errorType: 3 }]) {
    const storage = new Storage();
    storage.setItem("sts:visit:review:disputes:place:1:one", JSON.stringify(one));
    const { visit } = reviewing(storage);
    assert.deepEqual([visit.mark, visit.errorType, visit.words], [null, null, ""], JSON.stringify(one));
  }
});
