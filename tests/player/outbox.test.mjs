import assert from "node:assert/strict";
import test from "node:test";
import { Outbox, uuid } from "../../sts/player/outbox.mjs";
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
  const refused = outbox.settle([
    { uuid: letter(1).uuid, status: "saved", message: "" },
    { uuid: letter(2).uuid, status: "refused", message: "why" },
    { uuid: "unknown", status: "refused", message: "not ours" },
  ]);
  assert.deepEqual(refused.map((ack) => ack.message), ["why"]);
  assert.deepEqual(new Outbox(storage, "place:1").all(), [letter(3)]);
});

test("a key that holds no letter is thrown away and disturbs nothing", () => {
  const storage = new Storage();
  storage.setItem("sts:outbox:place:1:x", "{half");
  assert.equal(new Outbox(storage, "place:1").size, 0);
  assert.equal(storage.length, 0);
});

test("a uuid is 32 hexadecimal digits of randomness", () => {
  assert.match(uuid(random), /^[0-9a-f]{32}$/);
  assert.notEqual(uuid(random), uuid(random));
});
