import assert from "node:assert/strict";
import test from "node:test";
import { Channel } from "../../../annotator_app/sts_annotator_app/components/channel.mjs";
import { Outbox } from "../../../annotator_app/sts_annotator_app/components/outbox.mjs";
import { Storage } from "./fixtures.mjs";

const letter = (n) => ({ uuid: `${n}`.repeat(32), item: `item-${n}`, verdict: "not_done" });
const settle = () => new Promise((resolve) => setImmediate(resolve));

// A channel whose requests wait until the test answers them.
function open() {
  const requests = [], received = [], refusals = [];
  globalThis.fetch = (address, { body }) =>
    new Promise((resolve, fail) => {
      const answer = (status, data) =>
        resolve({ status, headers: new Headers(data ? { "Content-Type": "application/json" } : {}), json: async () => data });
      requests.push({ address, message: JSON.parse(body), answer, fail });
    });
  const outbox = new Outbox(new Storage(), "place:1");
  const channel = new Channel({
    outbox,
    author: "place:1",
    address: "here",
    more: () => ({ has: ["a"] }),
    receive: (data, first) => received.push([data, first]),
    refused: () => refusals.push(1),
  });
  return { channel, outbox, requests, received, refusals };
}

const data = (more = {}) => ({ acks: [], trouble: "", ...more });

test("the first message asks for everything, and later ones carry the outbox", async () => {
  const { channel, outbox, requests, received } = open();
  outbox.put(letter(1));
  channel.flush();
  requests[0].answer(200, data());
  await settle();
  channel.flush();
  assert.deepEqual(requests.map(({ message }) => message), [null, { author: "place:1", outbox: [letter(1)], has: ["a"] }]);
  requests[1].answer(200, data());
  await settle();
  assert.deepEqual(received.map(([, first]) => first), [true, false]);
});

test("one message is under way at a time, and what was due meanwhile follows in one", async () => {
  const { channel, outbox, requests } = open();
  channel.flush();
  for (const n of [1, 2]) {
    outbox.put(letter(n));
    channel.flush();
  }
  assert.equal(requests.length, 1);
  requests[0].answer(200, data());
  await settle();
  assert.deepEqual(requests[1].message.outbox, [letter(1), letter(2)]);
  requests[1].answer(200, data());
  await settle();
  assert.equal(requests.length, 2);
});

test("a lost message changes nothing, and the next one is sent", async () => {
  const { channel, outbox, requests, received } = open();
  outbox.put(letter(1));
  channel.flush();
  requests[0].fail(new TypeError("network"));
  await settle();
  channel.flush();
  requests[1].answer(200, null); // such as the sign-in page of a proxy
  await settle();
  assert.deepEqual([received, outbox.size, channel.begun], [[], 1, false]);
  assert.notEqual(channel.unansweredSince, null);
});

test("a page without data says that the connection is lost, until it has data", async (t) => {
  const { channel, requests } = open();
  channel.flush();
  requests[0].fail(new TypeError("network"));
  await settle();
  assert.equal(channel.problem, "");
  const { now } = performance;
  t.after(() => (performance.now = now));
  performance.now = () => now.call(performance) + 8000;
  assert.match(channel.problem, /^Connection lost/);
  channel.flush();
  requests[1].answer(200, data());
  await settle();
  assert.equal(channel.problem, "");
});

test("a failing store is reported until the server answers again", async () => {
  const { channel, outbox, requests, received } = open();
  outbox.put(letter(1));
  channel.flush();
  requests[0].answer(503, { trouble: "away" });
  await settle();
  assert.deepEqual([channel.trouble, received], ["away", []]);
  channel.flush();
  requests[1].answer(200, data({ acks: [{ uuid: letter(1).uuid, status: "saved" }] }));
  await settle();
  assert.deepEqual([channel.trouble, channel.unansweredSince, received.length], ["", null, 1]);
});

test("a refusal is passed on, and a page that was left receives nothing", async () => {
  const { channel, requests, received, refusals } = open();
  for (const status of [401, 403]) {
    channel.flush();
    requests.at(-1).answer(status);
    await settle();
    assert.match(channel.problem, /reload the page/);
  }
  assert.equal(refusals.length, 2);
  channel.flush();
  channel.end();
  requests.at(-1).answer(200, data());
  await settle();
  assert.deepEqual(received, []);
});
