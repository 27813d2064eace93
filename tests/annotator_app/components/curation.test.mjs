import assert from "node:assert/strict";
import test from "node:test";
import { Curation } from "../../../annotator_app/sts_annotator_app/components/curation.mjs";
import { Outbox } from "../../../annotator_app/sts_annotator_app/components/outbox.mjs";
import { Playback } from "../../../sts/viewer/playback.mjs";
import { NAMES_KEY, Storage, payload, random, testOnTouchScreen } from "./fixtures.mjs";

const IDS = ["walk-01", "walk-02", "walk-03", "walk-04"];
const LIST = { category: "", difficulty: "", source: "", status: "undecided", number: 0 };
const DRAFT = { name: "own", id: "d".repeat(32), parent: null, candidates: 4 };
const decided = (id, standing = [], last = standing.at(-1)?.[0] ?? "", inherited = false) =>
  ({ id, inherited, last, standing, mark: id, rating: "", ratings: [] });

function sent(more = {}) {
  const candidates = IDS.map((id) => ({ id, mark: id, broken: "", instruction: `go ${id}`, tags: [], own: {}, episode: payload(id) }));
  return {
    acks: [], drafts: ["own"], draft: DRAFT, list: LIST, total: 4, position: 0, at: "walk-01", first: 0, ids: IDS,
    candidates, states: IDS.map((id) => decided(id)), coverage: [], log: [], undoable: [], ...more,
  };
}

function curation(more = {}, storage = new Storage()) {
  const made = new Curation({
    outbox: new Outbox(storage, "drafts:1", "follows"), random, playback: new Playback({ settings: { autoplay: false } }),
  });
  made.receive(sent(more), 0);
  return made;
}

const press = (made, ...names) => names.map((one) => made.act(typeof one === "string" ? { name: one } : one, 0));
const kinds = (made) => made.outbox.all().map(({ kind, candidate }) => `${kind} ${candidate}`);

test("accepting moves to the next candidate, and each decision names its predecessor", () => {
  const made = curation();
  press(made, "accept", "accept", "previous", "reject", { name: "reason", at: 1 });
  assert.equal(made.at, "walk-03");
  assert.deepEqual(kinds(made), ["accept walk-01", "accept walk-02", "reject walk-02"]);
  const [first, second, third] = made.outbox.all();
  assert.deepEqual([first.follows, second.follows, third.follows], ["", "", second.uuid]);
  assert.equal(third.reason, "the subject of the question was not in sight");
  assert.equal(made.statusOf("walk-02").status, "rejected");
});

testOnTouchScreen("texts of curating on a touch screen speak of buttons", () => {
  const made = curation();
  const texts = [made.message.text];
  const typed = { name: "typed", text: "" };
  const steps = ["accept", "previous", "accept", "yes", "sight", "reject", typed, "cancel", "edit", "next", "cancel", "rating", "accept", "yes"];
  for (const step of steps) texts.push((press(made, step), made.message.text));
  made.receive(sent({ elsewhere: 3 }), 0);
  for (const step of ["rating", "next", "next", "next", "next"]) texts.push((press(made, step), made.message.text));
  for (const text of texts) assert.doesNotMatch(text, NAMES_KEY);
  assert.match(texts[0], /^Press “Accept” to accept, “Reject” to reject, “Next” for the next one\.$/);
});

test("a link in the address is followed once", () => {
  const made = curation({ linked: "walk-03" });
  assert.equal(made.at, "walk-03");
  press(made, "next");
  made.receive(sent({ linked: "walk-03", at: "walk-04", position: 3 }), 0);
  assert.equal(made.at, "walk-04");
});

test("a rejection needs a reason, and Escape cancels it", () => {
  const made = curation();
  press(made, "reject");
  assert.equal(made.asking, "reject");
  press(made, "cancel", { name: "reason", at: 0 });
  assert.deepEqual(kinds(made), []);
  press(made, "reject", { name: "typed", text: "  " });
  assert.deepEqual([kinds(made).length, made.asking, made.message.text], [0, "reject", "Type a reason first, or press Esc."]);
  press(made, { name: "typed", text: " it is <b>odd</b> " });
  assert.equal(made.outbox.all()[0].reason, "it is <b>odd</b>");
});

test("undo reverts sent and unsent decisions, each once", () => {
  const standing = [["e".repeat(32), "accept", "Ana", ""]];
  const made = curation({
    undoable: [{ uuid: "e".repeat(32), candidate: "walk-04", kind: "accept" }],
    states: [...IDS.slice(0, 3).map((id) => decided(id)), decided("walk-04", standing)],
  });
  press(made, "accept", "accept", "undo", "undo", "undo", "undo");
  assert.equal(made.message.text, "You have no decision to undo.");
  assert.deepEqual(kinds(made).slice(2), ["undo walk-02", "undo walk-01", "undo walk-04"]);
  assert.deepEqual(IDS.map((id) => made.statusOf(id).status), Array(4).fill("undecided"));
  assert.equal(made.at, "walk-04");
});

test("an acknowledged decision counts once, and a rejected one is shown with its message", () => {
  const made = curation();
  press(made, "accept", "accept");
  const [first, second] = made.outbox.all();
  made.receive(sent({
    acks: [{ uuid: first.uuid, status: "saved", message: "" }, { uuid: second.uuid, status: "rejected", message: "walk-02 has changed" }],
    states: [decided("walk-01", [[first.uuid, "accept", "Ana", ""]]), decided("walk-02", [["b".repeat(32), "reject", "Ben", "odd"]])],
  }), 0);
  assert.deepEqual(made.rejections, [{ message: "walk-02 has changed", said: "accepted walk-02" }]);
  assert.equal(made.outbox.size, 0);
  assert.deepEqual([made.statusOf("walk-01").by, made.statusOf("walk-02").by], ["Ana", "Ben"]);
  press(made, "cancel");
  assert.deepEqual(made.rejections, []);
});

test("undo leaves later decisions of other curators alone", () => {
  const made = curation({ undoable: [{ uuid: "e".repeat(32), candidate: "walk-01", kind: "accept" }],
    states: [decided("walk-01", [["e".repeat(32), "accept", "Ana", ""], ["f".repeat(32), "reject", "Ben", "odd"]])] });
  press(made, "undo");
  assert.equal(made.outbox.size, 0);
  assert.match(made.message.text, /Ben has decided .* since/);
});

test("only scenarios of the previous version can be retired", () => {
  const made = curation({ states: [decided("walk-01", [], "", true), decided("walk-02")] });
  press(made, "accept", "reject");
  assert.equal(made.outbox.size, 0);
  press(made, "retire", { name: "reason", at: 0 });
  assert.deepEqual(kinds(made), ["retire walk-01"]);
  press(made, "retire");
  assert.equal(made.asking, null);
  assert.match(made.message.text, /R to reject walk-02/);
});

test("a new list starts at its first candidate, and late answers for the old list are ignored", () => {
  const made = curation();
  press(made, "next", { name: "list", parts: { status: "accepted" } });
  made.receive(sent({ at: "walk-02", position: 1 }), 0);
  assert.equal(made.at, null);
  made.receive(sent({ list: { ...LIST, status: "accepted", number: 7 }, total: 1, ids: ["walk-03"], at: "walk-03" }), 0);
  assert.deepEqual([made.at, made.position, made.list.number], ["walk-03", 0, 7]);
});

test("an edited candidate is shown again at the same frame", () => {
  const made = curation();
  made.playback.go(5, 0);
  const longer = { ...sent().candidates[0], mark: "other", instruction: "stay", episode: payload("walk-01", { horizon: 9 }) };
  made.receive(sent({ candidates: [longer] }), 0);
  assert.deepEqual([made.candidate.instruction, made.playback.frame, made.playback.view.episode.length], ["stay", 5, 9]);
});

test("an unreadable recording is marked as broken and the others are shown", () => {
  const [one, two] = sent().candidates;
  const made = curation({ candidates: [{ ...one, episode: { ...one.episode, steps: 99 } }, two] });
  assert.equal(made.playback.view, null);
  assert.match(made.candidate.broken, /scenes for 99 steps/);
  press(made, "next");
  assert.equal(made.playback.view.episode.id, "walk-02");
});

test("changes are previewed one by one and saved as one decision", () => {
  const made = curation();
  made.act({ name: "edit" }, 0);
  const { editing } = made;
  assert.deepEqual(editing.asks, { candidate: "walk-01", number: 1, changes: {}, whole: true });
  const whole = { episode: payload("walk-01", { takeover: 14, horizon: 26 }), players: ["A"], objects: [2], categories: ["walk"] };
  const tried = (more) => made.receive(sent({ edit: { number: editing.number, candidate: "walk-01", changes: [], ...more } }), 0);
  Object.assign(editing.candidate, { takeover: 14, context: 4, horizon: 6, player: 0 });
  tried({ whole });
  assert.deepEqual(editing.span, { start: 10, takeover: 14, end: 20 });
  press(made, { name: "move", text: "takeover", frame: 99 }, { name: "move", text: "end", frame: 3 }, { name: "move", text: "start", frame: -5 });
  assert.deepEqual(editing.changes, { takeover: 34, horizon: 1, context: 34 });
  assert.equal(made.playback.view.episode.takeover, 34);
  press(made, { name: "typed", text: "" });
  assert.match(made.message.text, /Checking the changes/);
  press(made, "accept", "cancel");
  assert.match(made.message.text, /Esc again to discard/);
  tried({ changes: [["takeover", "14", "34"], ["state at takeover", "a", "b"]] });
  made.receive(sent({ states: [decided("walk-01", [["b".repeat(32), "accept", "Ben", ""]])] }), 0);
  press(made, { name: "typed", text: "" });
  const [{ kind, changes, follows, said }] = made.outbox.all();
  assert.deepEqual([kind, changes, follows, said], ["edit", editing.changes, "", "takeover 14 → 34"]);
  assert.equal(made.editing, null);
});

test("an invalid edit shows its error and is not saved", () => {
  const made = curation();
  made.act({ name: "edit" }, 0);
  made.receive(sent({ edit: { number: 1, candidate: "walk-01", error: "the trajectory is gone" } }), 0);
  press(made, { name: "typed", text: "" });
  assert.equal(made.message.text, "Not saved: the trajectory is gone.");
  press(made, "cancel");
  assert.deepEqual([made.editing, made.outbox.size], [null, 0]);
});

test("a second rating is given blind, moves to the next candidate and can be undone", () => {
  const made = curation();
  press(made, "yes");
  assert.match(made.message.text, /Press B to start/);
  press(made, "accept", "rating");
  assert.equal(made.statusOf("walk-01"), null);
  made.receive(sent({ list: { ...LIST, status: "second", number: 3 } }), 0);
  press(made, "accept", "edit", "yes", "no");
  assert.match(made.message.text, /would not agree”: walk-02/);
  assert.deepEqual(kinds(made), ["accept walk-01", "rating walk-01", "rating walk-02"]);
  assert.deepEqual([made.ratingOf("walk-01"), made.at], ["yes", "walk-03"]);
  press(made, "undo", "undo", "undo");
  assert.deepEqual(kinds(made).slice(3), ["undo walk-02", "undo walk-01"]);
  assert.equal(made.ratingOf("walk-01"), "");
  press(made, "rating");
  made.receive(sent(), 0);
  assert.equal(made.statusOf("walk-01").status, "accepted");
});

test("the continuations of agents replace the recording in turn, until the next candidate", () => {
  const made = curation({ passed: [{ id: "walk-01", mark: "walk-01", passed: [["random", 3, 10], ["rule", 10, 10]] }] });
  press(made, "ghost", "ghost");
  assert.deepEqual(made.asks.ghost, { candidate: "walk-01", agent: "rule" });
  const episode = payload("walk-01", { says: { 5: 1 } });
  made.receive(sent({ ghost: { id: "walk-01", mark: "walk-01", agent: "rule", episode, broken: "" } }), 0);
  assert.equal(made.playback.view.episode.utterances.length, 1);
  press(made, "ghost");
  assert.equal(made.playback.view.episode.utterances.length, 0);
  press(made, "ghost", "next");
  assert.deepEqual([made.agent, made.passed], ["", null]);
  press(made, "ghost");
  assert.match(made.message.text, /not available yet/);
});

test("a key switches to the other half of a pair", () => {
  const made = curation({ half: { of: "walk-01", id: "walk-03", instruction: "stay", status: "undecided" } });
  press(made, "half");
  assert.deepEqual([made.at, made.half], ["walk-03", null]);
  press(made, "half");
  assert.match(made.message.text, /no contrast pair/);
});

test("accepting at the end of a list decides nothing and shows how many elsewhere are undecided", () => {
  const made = curation({ elsewhere: 12 });
  press(made, ...Array(6).fill("accept"), "reject", "next");
  assert.match(made.message.text, /last candidate of this list\. Elsewhere: 12 undecided candidates\. Press F/);
  assert.deepEqual(kinds(made), ["accept walk-01", "accept walk-02", "accept walk-03", "accept walk-04"]);
  press(made, "previous", "reject", { name: "reason", at: 0 }); // having gone back to the last one
  assert.equal(made.statusOf("walk-04").status, "rejected");
});

test("a decision that changes nothing is not an event", () => {
  const standing = [["e".repeat(32), "reject", "Ben", "the words are unclear"]];
  const made = curation({ states: [...IDS.slice(0, 3).map((id) => decided(id)), decided("walk-04", standing)] });
  press(made, "accept", "previous", "accept");
  assert.equal(made.message.text, "walk-01 is accepted already. Press J for the next one.");
  press(made, { name: "candidate", text: "walk-04" }, "reject", { name: "reason", at: 4 });
  assert.equal(made.message.text, "walk-04 is rejected already. Press J for the next one.");
  assert.deepEqual(kinds(made), ["accept walk-01"]);
});

test("a page that is opened again starts at the first undecided candidate of its list", () => {
  const { place } = curation();
  assert.deepEqual(Object.keys(place), ["draft", "list"]);
  const again = new Curation({
    outbox: new Outbox(new Storage(), "drafts:1", "follows"), random, playback: new Playback({ settings: { autoplay: false } }), place,
  });
  assert.deepEqual([again.asks.at, again.asks.list.number], [null, null]);
  again.receive(sent({ total: 0, ids: [], at: null, position: null, elsewhere: 2 }), 0); // all are decided
  assert.deepEqual([again.asks.list, again.at], [null, null]);
  again.receive(sent({ at: "walk-03", position: 2 }), 0);
  assert.equal(again.at, "walk-03");
});

test("a refused decision replaces the status line, and its texts are isolated", () => {
  const made = curation();
  press(made, "reject", { name: "typed", text: "לא ברור (2)" });
  const [{ uuid }] = made.outbox.all();
  assert.equal(made.message.text, "Rejected walk-01: \u2068לא ברור (2)\u2069. Press U to undo.");
  made.receive(sent({ acks: [{ uuid, status: "rejected", message: "walk-01 has changed" }] }), 0);
  assert.equal(made.message.text, "Not saved: rejected walk-01, “\u2068לא ברור (2)\u2069”.");
  assert.equal(made.message.tone, "warning");
});

test("Enter while changes are being checked saves them afterwards, unless they change again", () => {
  const tried = (made, more) => made.receive(sent({ edit: { number: made.editing.number, candidate: "walk-01", changes: [["horizon", "6", "7"]], facts: {}, ...more } }), 0);
  const made = curation();
  press(made, "edit", { name: "change", text: "instruction", word: "go" }, { name: "typed", text: "" });
  assert.equal(made.outbox.size, 0);
  tried(made);
  assert.deepEqual([kinds(made), made.editing], [["edit walk-01"], null]);
  const other = curation();
  press(other, "edit", { name: "typed", text: "" }, { name: "change", text: "instruction", word: "stay" });
  tried(other);
  assert.equal(other.outbox.size, 0);
});

test("an edit that does not fit, and accepting one, warn first", () => {
  const candidates = sent().candidates.map((one) => ({ ...one, fault: one.id === "walk-02" ? "out of sight" : null }));
  const made = curation({ candidates });
  press(made, "edit", { name: "change", text: "instruction", word: "go" });
  const edit = { number: made.editing.number, candidate: "walk-01", changes: [["instruction", "a", "b"]], facts: { fault: "too late" } };
  made.receive(sent({ candidates, edit }), 0);
  press(made, { name: "typed", text: "" });
  assert.equal(made.message.text, "This does not fit: too late. Press Enter again to save it.");
  assert.equal(made.outbox.size, 0);
  press(made, { name: "typed", text: "" });
  press(made, "next", "accept");
  assert.match(made.message.text, /^walk-02 does not fit: out of sight\. Press A again to accept it/);
  assert.deepEqual(kinds(made), ["edit walk-01"]);
  press(made, "accept");
  assert.deepEqual(kinds(made), ["edit walk-01", "accept walk-02"]);
});
