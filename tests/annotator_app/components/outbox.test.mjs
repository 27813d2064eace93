import assert from "node:assert/strict";
import test from "node:test";
import { Outbox, uuid } from "../../../annotator_app/sts_annotator_app/components/outbox.mjs";
import { Storage, random } from "./fixtures.mjs";

const letter = (n) => ({ uuid: `${n}`.repeat(32), item: `item-${n}`, verdict: "not_done" });

test("what is unacknowledged outlives the page, one key each", () => {
  const storage = new Storage();
  const outbox = new Outbox(storage, "place:1");
  outbox.put(letter(1));
  outbox.put(letter(2));
  assert.equal(storage.length, 2);
  assert.deepEqual(new Outbox(storage, "place:1").all(), [letter(1), letter(2)]);
});

test("another annotator's letters stay theirs", () => {
  const storage = new Storage();
  new Outbox(storage, "place:1").put(letter(1));
  assert.equal(new Outbox(storage, "place:11").size, 0);
  assert.equal(new Outbox(storage, "other:1").size, 0);
});

test("an acknowledged letter goes for good, and only the refused ones come back", () => {
  const storage = new Storage();
  const outbox = new Outbox(storage, "place:1");
  [1, 2, 3].forEach((n) => outbox.put(letter(n)));
  const settled = outbox.settle([
    { uuid: letter(1).uuid, status: "saved", message: "" },
    { uuid: letter(2).uuid, status: "refused", message: "why" },
    { uuid: "unknown", status: "refused", message: "not ours" },
  ]);
  assert.deepEqual(settled.map(({ status, item }) => [status, item]), [["saved", letter(1).item], ["refused", letter(2).item]]);
  assert.deepEqual(new Outbox(storage, "place:1").all(), [letter(3)]);
});

test("a key that holds no letter is thrown away and disturbs nothing", () => {
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

test("a correction is sent after what it corrects, in whatever order storage gives them", () => {
  const corrected = (n, by) => ({ ...letter(n), item: "item", corrects: by && letter(by).uuid });
  const chain = [corrected(3, null), corrected(1, 3), corrected(2, 1)];
  for (const order of [[0, 1, 2], [1, 2, 0], [2, 1, 0]]) {
    const storage = new Storage();
    for (const i of order) storage.setItem(`sts:outbox:place:1:${chain[i].uuid}`, JSON.stringify(chain[i]));
    assert.deepEqual(new Outbox(storage, "place:1").all(), chain);
  }
});

test("a uuid is 32 hexadecimal digits of randomness", () => {
  assert.match(uuid(random), /^[0-9a-f]{32}$/);
  assert.notEqual(uuid(random), uuid(random));
});

test("of very many unsent answers the first few hundred go at once", () => {
  const outbox = new Outbox(new Storage(), "place:1");
  for (let n = 0; n < 600; n++) outbox.put({ ...letter(1), uuid: `${n}` });
  assert.deepEqual([outbox.size, outbox.some().length, outbox.some()[0].uuid], [600, 500, "0"]);
});
