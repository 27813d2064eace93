import assert from "node:assert/strict";
import test from "node:test";
import { LiveSession } from "../../../annotator_app/sts_annotator_app/components/livesession.mjs";
import { Storage } from "./fixtures.mjs";

const COMPASS = ["up-left", "up", "up-right", "left", "stay", "right", "down-left", "down", "down-right"];
const KITCHEN = { keys: { ArrowUp: "up", W: "up", s: "down", d: "right", a: "left", " ": "interact" }, moves: ["up", "down", "right", "left", "stay", "interact"], tokens: ["silence"] };
const PROMPTS = [{ kind: "instruction", difficulty: "easy", text: "Ask." }, { kind: "play", difficulty: "hard", text: "Play." }];

let keys = 0;
function open({ storage = new Storage(), me = 0, hello = {}, state = {}, frame = {} } = {}) {
  const live = new LiveSession({
    storage, namespace: "place:1", session: "one", random: () => `key ${++keys}`, prompts: PROMPTS, completions: ["go to the door"],
  });
  connect(live, { me, ...hello });
  live.receive(stateOf(state), 0);
  live.receive(frameOf(0, frame), 0);
  return live;
}

const connect = (live, hello = {}) =>
  live.receive({
    type: "hello", session: "one", activity: "record", drawing: "grid", moves: COMPASS, tokens: ["silence", "yes", ...COMPASS], keys: {},
    repeats: false, tick: 0.25, max_steps: 40, me: 0, player: 0, players: [0, 1], instructions: [], practice: false,
    layout: { height: 6, width: 6, names: ["Good", "Evil", "A", "B"], glyphs: [], players: [2, 3], details: {} }, ...hello,
  }, 0);
const stateOf = (more = {}) =>
  ({ type: "state", roles: ["setter", "solver"], kinds: ["person", "person"], here: [0, 1], told: [], ended: "", ...more });
const frameOf = (t, more = {}) => ({ type: "frame", t, view: {}, said: [], watch: false, slow: false, ...more });
const told = (text, more = {}) => ({ text, step: 3, by: 0, mark: "", key: "", ...more });
const press = (key, more = {}) => ({ key, code: `Key${key.toUpperCase()}`, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

test("instructions are sent one after the other, and again under the same keys until they are saved", () => {
  const storage = new Storage();
  const live = open({ storage });
  for (const text of ["one", "two", "  "]) live.ask(text);
  const first = live.takeNext();
  assert.equal(live.takeNext(), null);
  live.receive({ type: "saved", key: first.key }, 0);
  const second = live.takeNext();
  assert.deepEqual([first.text, first.prompt, second.text, second.prompt], ["one", "Ask.", "two", "Play."]);

  const reloaded = open({ storage, state: { told: [told("one", { key: first.key })] } });
  assert.deepEqual(reloaded.asked.map(({ text, isSaved }) => [text, isSaved]), [["two", false], ["one", true]]);
  assert.deepEqual(reloaded.takeNext(), second);
  reloaded.lose();
  assert.equal(reloaded.takeNext(), null);
  reloaded.ask("three");
  connect(reloaded);
  assert.deepEqual(reloaded.takeNext(), second);
  reloaded.receive(stateOf({ told: [told("one", { key: first.key }), told("two", { key: second.key })] }), 0);
  assert.deepEqual(reloaded.kept.unsent.map(({ text }) => text), ["three"], "its answer was lost, but it is saved");
});

test("an instruction that is refused returns to the field, and the reason is displayed", () => {
  const live = open();
  live.ask("too long");
  live.receive({ type: "refused", key: live.takeNext().key, text: "It is too long." }, 0);
  assert.deepEqual([live.kept.draft, live.kept.unsent, live.status(0)], ["too long", [], "It is too long."]);
  live.ask("short");
  assert.deepEqual([live.kept.draft, live.status(0)], ["", ""]);
});

test("words of the closed grammar count as a completion only if nothing was changed", () => {
  const live = open();
  for (const text of ["go to the door", "Go to the door"]) live.ask(text);
  assert.deepEqual(live.kept.unsent.map(({ typed }) => typed), ["completion", "free"]);
});

test("a mark replaces one that is not saved, and its note is sent with every later mark", () => {
  const live = open({ state: { told: [told("one"), told("other", { by: 1 }), told("two")] } });
  live.mark(2, "success");
  live.annotate(2, " near ");
  live.mark(2, "failure");
  const sent = live.kept.unsent.map(({ type, instruction, mark, note }) => [type, instruction, mark, note]);
  assert.deepEqual(sent, [["mark", 2, "failure", "near"]]);
  assert.deepEqual(live.asked.map(({ text, mark, isSaved }) => [text, mark, isSaved]), [["two", "failure", false], ["one", "", true]]);
  assert.deepEqual(live.unmarked.map(({ index }) => index), [0]);
});

test("the keys that mark are free of moves and words", () => {
  const setting = { state: { told: [told("one")] } };
  const marks = (live) => ["", "Shift", "Alt"].filter((held) =>
    live.keyAction(press("s", { shiftKey: held === "Shift", altKey: held === "Alt" }))?.name === "mark");
  assert.deepEqual(marks(open(setting)), ["Alt"]);
  assert.deepEqual(marks(open({ ...setting, hello: KITCHEN })), ["Shift"]);
  assert.deepEqual(marks(open({ ...setting, hello: { player: null } })), [""]);
  const mac = press("ß", { code: "KeyS", altKey: true });
  assert.deepEqual(open(setting).keyAction(mac), { name: "mark", text: "success" });
  assert.equal(open().keyAction(mac), null, "there is nothing to mark");
});

test("the domain's keys move, also in capitals; without any, its moves get keys by name", () => {
  const kitchen = open({ hello: KITCHEN });
  const moves = ["ArrowUp", "W", " "].map((key) => kitchen.keyAction(press(key, { shiftKey: key === "W" })));
  assert.deepEqual(moves.map(({ move }) => move), ["up", "up", "interact"]);
  assert.equal(kitchen.keyAction(press("ArrowRight")), null);
  const board = open();
  assert.deepEqual(board.keyAction(press("w", { shiftKey: true })), { name: "say", word: "up" });
  assert.deepEqual(board.keyAction(press("w")), { name: "move", move: "up" });
  assert.equal(board.keyAction(press("w", { ctrlKey: true })), null);
  assert.equal(open({ hello: { player: null } }).keyAction(press("w")), null);
});

test("a key that is down is one press; if two are down, releasing one leaves the other", () => {
  const live = open({ hello: { ...KITCHEN, repeats: true } });
  assert.deepEqual(live.press("KeyW", "up"), { type: "press", move: 0 });
  assert.equal(live.press("KeyW", "up"), null);
  live.press("KeyD", "right");
  assert.deepEqual(live.release("KeyD"), [{ type: "release", move: 2 }, { type: "press", move: 0 }]);
  assert.deepEqual(live.release("KeyW"), [{ type: "release", move: 0 }]);
  assert.deepEqual(live.release("KeyW"), []);
  const board = open();
  for (const key of ["KeyW", "KeyD"]) board.press(key, "up");
  assert.equal(board.release("KeyD").length, 1, "a key that is held does not repeat here");
});

test("a word is said with the next move only, and is cleared when it is chosen again", () => {
  const live = open();
  live.say("yes");
  assert.deepEqual(live.press("a", "up"), { type: "press", move: 1, say: 1 });
  assert.deepEqual(live.press("b", "down"), { type: "press", move: 7 });
  live.say("yes");
  live.say("yes");
  assert.deepEqual(live.press("c", "stay"), { type: "press", move: 4 });
});

test("keys have no effect during the context, without the other person, and after the end", () => {
  for (const setting of [{ frame: { watch: true } }, { state: { here: [0] } }, { state: { ended: "finished" } }])
    assert.equal(open(setting).press("a", "up"), null);
});

test("an instruction of a scenario appears at its step", () => {
  const hello = { activity: "scenario", instructions: [{ text: "first", step: 0 }, { text: "second", step: 2 }] };
  const live = open({ hello, state: { roles: ["solver"], kinds: ["person"], here: [0] } });
  assert.deepEqual(live.tasks.map(({ text }) => text), ["first"]);
  live.receive(frameOf(2), 0);
  assert.deepEqual(live.tasks.map(({ text }) => text), ["first", "second"]);
  assert.equal(live.canAsk, false);
});

test("a solver sees what others ask; only two people with players can swap", () => {
  const live = open({ me: 1, hello: { player: 1 }, state: { told: [told("come"), told("mine", { by: 1 })] } });
  assert.deepEqual([live.tasks.map(({ text }) => text), live.canAsk, live.canSwap], [["come"], false, true]);
  const swapped = { told: [told("come"), told("now you", { by: 1 })], swapped: 1, roles: ["solver", "setter"] };
  assert.deepEqual(open({ me: 1, hello: { player: 1 }, state: swapped }).tasks, [], "the old instruction is over");
  assert.deepEqual(open({ state: swapped }).tasks.map(({ text }) => text), ["now you"]);
  assert.equal(open({ state: { kinds: ["person", "agent"], here: [0] } }).canSwap, false);
  assert.equal(open({ hello: { player: null, players: [null, 0] } }).canSwap, false);
});

test("the status names the most urgent matter", () => {
  const live = open({ state: { told: [told("one")] } });
  const at = (change, now = 0) => (live.receive(change, now), live.status(now));
  assert.match(at({ type: "countdown", seconds: 3 }), /Get ready/);
  assert.deepEqual([live.countdown(0), live.countdown(2500), live.countdown(3000)], [3, 1, 0]);
  assert.equal(at(frameOf(1)), "");
  assert.match(at(frameOf(2, { watch: true })), /Watch/);
  assert.match(at(stateOf({ here: [0], told: [told("one")] })), /Waiting for the other person/);
  assert.equal(at({ type: "stopped", text: "It cannot be saved." }), "It cannot be saved.");
  assert.equal(at({ type: "ended", text: "They left." }), "They left.");
  assert.equal(at(stateOf({ ended: "left", told: [told("one")] })), "They left. Mark 1 instruction before you leave.");
  assert.deepEqual([live.lose(), live.lose()], [500, 1000]);
  for (let i = 0; i < 9; i++) assert.ok(live.lose() <= 8000);
  assert.match(live.status(0), /connection is lost/);
  assert.equal(at({ type: "closed", text: "It is elsewhere." }), "It is elsewhere.");
  assert.equal(at({ type: "stopped", text: "Too late." }), "It is elsewhere.");
});

test("what one person wrote is not sent as another who signed in on the browser", () => {
  const storage = new Storage();
  open({ storage }).ask("mine");
  const other = open({ storage, me: 1, hello: { player: 1 } });
  assert.equal(other.takeNext(), null);
  assert.match(other.status(0), /Another person signed in/);
});

test("a person without a player sees the scene, with trails, and hears all that is said", () => {
  const live = open({ hello: { player: null, players: [null, 1] }, frame: { view: { kind: "scene", scene: [1, 2, 3, 4] } } });
  live.receive(frameOf(1, { view: { kind: "scene", scene: [1, 2, 3, 5] }, said: [[1, "yes"]] }), 0);
  const { episode } = live;
  assert.deepEqual([episode.judged, episode.scene(0), episode.scene(1)], [[3], [1, 2, 3, 4], [1, 2, 3, 5]]);
  assert.deepEqual(live.bubbles, [{ frame: 1, object: 3, text: "yes" }]);
  assert.equal(live.heardText, "B: yes (step 1)");
  live.receive(frameOf(9, { view: { kind: "scene", scene: [1, 2, 3, 5] } }), 0);
  assert.deepEqual(live.bubbles, []);
});

test("after the end, what is unmarked comes first, and no time is left", () => {
  const live = open({ state: { ended: "finished", told: [told("one"), told("two", { mark: "success" })] } });
  assert.deepEqual([live.asked.map(({ text }) => text), live.clock], [["one", "two"], "step 0 of 40"]);
});

test("the clock counts down in clocked sessions, and steps in others", () => {
  assert.equal(open().clock, "0:10 left · step 0 of 40");
  assert.equal(open({ hello: { tick: null } }).clock, "step 0 of 40");
});
