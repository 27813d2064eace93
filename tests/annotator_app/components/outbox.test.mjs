import assert from "node:assert/strict";
import test from "node:test";
import { Outbox, uuid } from "../../../annotator_app/sts_annotator_app/components/outbox.mjs";
import { Storage, random } from "./fixtures.mjs";

const letter = (n) => ({ uuid: `${n}`.repeat(32), item: `item-${n}`, verdict: "not_done" });

test("each unacknowledged answer is stored under its own key until acknowledged", () => {
  const storage = new Storage();
  const outbox = new Outbox(storage, "place:1");
  outbox.put(letter(1));
  outbox.put(letter(2));
  assert.equal(storage.length, 2);
  assert.deepEqual(new Outbox(storage, "place:1").all(), [letter(1), letter(2)]);
});

test("answers of another annotator are left alone", () => {
  const storage = new Storage();
  new Outbox(storage, "place:1").put(letter(1));
  assert.equal(new Outbox(storage, "place:11").size, 0);
  assert.equal(new Outbox(storage, "other:1").size, 0);
});

test("acknowledged answers are removed, and rejected ones are returned", () => {
  const storage = new Storage();
  const outbox = new Outbox(storage, "place:1");
  [1, 2, 3].forEach((n) => outbox.put(letter(n)));
  const settled = outbox.settle([
    { uuid: letter(1).uuid, status: "saved", message: "" },
    { uuid: letter(2).uuid, status: "rejected", message: "why" },
    { uuid: "unknown", status: "rejected", message: "not ours" },
  ]);
  assert.deepEqual(settled.map(({ status, item }) => [status, item]), [["saved", letter(1).item], ["rejected", letter(2).item]]);
  assert.deepEqual(new Outbox(storage, "place:1").all(), [letter(3)]);
});

test("an invalid stored answer is removed", () => {
  for (const text of ["{half", "null", "5", "{}", '{"uuid":"another"}']) {
    const storage = new Storage();
    storage.setItem("sts:outbox:place:1:x", text);
    new Outbox(storage, "place:1").put(letter(1));
    storage.setItem("sts:outbox:place:1:y", text);
    storage.setItem(`sts:outbox:place:1:${letter(2).uuid}`, JSON.stringify(letter(2)));
    assert.deepEqual(new Outbox(storage, "place:1").all(), [letter(1), letter(2)], text);
    assert.equal(storage.length, 2, text);
  }
});

test("a correction is sent after the answer it corrects", () => {
  const corrected = (n, by) => ({ ...letter(n), item: "item", corrects: by && letter(by).uuid });
  const chain = [corrected(3, null), corrected(1, 3), corrected(2, 1)];
  for (const order of [[0, 1, 2], [1, 2, 0], [2, 1, 0]]) {
    const storage = new Storage();
    for (const i of order) storage.setItem(`sts:outbox:place:1:${chain[i].uuid}`, JSON.stringify(chain[i]));
    assert.deepEqual(new Outbox(storage, "place:1").all(), chain);
  }
});

test("a uuid has 32 random hexadecimal digits", () => {
  assert.match(uuid(random), /^[0-9a-f]{32}$/);
  assert.notEqual(uuid(random), uuid(random));
});

test("at most a few hundred unsent answers are sent at once", () => {
  const outbox = new Outbox(new Storage(), "place:1");
  for (let n = 0; n < 600; n++) outbox.put({ ...letter(1), uuid: `${n}` });
  assert.deepEqual([outbox.size, outbox.some().length, outbox.some()[0].uuid], [600, 500, "0"]);
});
