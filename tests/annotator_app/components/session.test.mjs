import assert from "node:assert/strict";
import test from "node:test";
import { NAMES_KEY, session, payload, press, Storage, testOnTouchScreen } from "./fixtures.mjs";

const seek = (frame) => ({ name: "seek", frame });

test("a marker's step is counted from the takeover", () => {
  const d = session();
  press(d, seek(5), "success");
  assert.deepEqual(d.visit.mark, { verdict: "success", step: 1, reason: null });
  press(d, "end", "failure");
  assert.deepEqual(d.visit.mark, { verdict: "failure", step: 6, reason: null });
});

test("a marker at or before the takeover is rejected with a message", () => {
  const d = session();
  for (const frame of [0, 3, 4]) {
    press(d, seek(frame), "success");
    assert.equal(d.visit.mark, null);
    assert.match(d.message.text, /only the continuation is judged/);
    assert.equal(d.message.tone, "warning");
  }
});

test("the first hint fits what happens and names N", () => {
  const played = session({ settings: { autoplay: true } });
  assert.match(played.message.text, /^Watch it play\. Press S \(success\) or F .* N \(not completed\); then Enter/);
  assert.match(session().message.text, /^Press Space to watch it\. Press S .* N \(not completed\)/);
});

testOnTouchScreen("texts on a touch screen speak of buttons", () => {
  const d = session();
  const texts = [d.message.text];
  const steps = ["success", "submit", seek(5), "success", "cannot_judge", "submit", "not_done", "submit", "previous", "autoplay"];
  for (const step of steps) texts.push((press(d, step), d.message.text));
  assert.match(texts[0], /Press “Play” to watch it\. Press “Success” or “Failure” .* “Not completed”; then “Submit”\.$/);
  for (const text of texts) assert.doesNotMatch(text, NAMES_KEY);
});

test("a note about a refused answer closes before a correction is left", () => {
  const d = session();
  press(d, "not_done", "submit", "previous");
  d.receive({ acks: [{ uuid: d.outbox.all()[0].uuid, status: "rejected", message: "no" }], queue: null }, 0);
  press(d, "cancel");
  assert.deepEqual([d.rejections.length, !!d.visit.corrects], [0, true]);
  press(d, "cancel");
  assert.equal(d.visit.corrects, null);
});

test("nothing is submitted before a verdict is chosen", () => {
  const d = session();
  press(d, "submit");
  assert.equal(d.outbox.size, 0);
  assert.equal(d.visit.episode.id, "one");
  assert.match(d.message.text, /No verdict yet/);
});

test("submitting shows the next episode at once and keeps the answer", () => {
  const d = session();
  d.spend(2340);
  press(d, seek(5), seek(6), "success", "submit");
  assert.equal(d.visit.episode.id, "two");
  const [sent] = d.outbox.all();
  assert.match(sent.uuid, /^[0-9a-f]{32}$/);
  assert.deepEqual({ ...sent, uuid: "" }, {
    uuid: "", item: "one", verdict: "success", step: 2, reason: null, seconds: 2.3, watched: 0.333, corrects: null,
  });
});

test("not completed can be given without watching, with a notice", () => {
  const d = session();
  press(d, "not_done");
  assert.match(d.message.text, /6 steps of the continuation not watched yet/);
  press(d, "submit");
  assert.equal(d.outbox.all()[0].watched, 0);
});

test("cannot judge needs a reason", () => {
  const d = session();
  press(d, "cannot_judge", "submit");
  assert.equal(d.outbox.size, 0);
  press(d, { name: "reason", at: 3 });
  assert.equal(d.visit.mark.reason, null, "4 only opens the text field");
  press(d, { name: "reason", at: 1 }, "submit");
  assert.match(d.outbox.all()[0].reason, /does not fit/);
});

test("a free-text reason is trimmed, and a blank one is not a reason", () => {
  const d = session();
  press(d, "cannot_judge", { name: "reason", text: "   " }, "submit");
  assert.equal(d.outbox.size, 0);
  press(d, { name: "reason", text: " too dark " }, "submit");
  assert.equal(d.outbox.all()[0].reason, "too dark");
});

test("digits do nothing unless a reason is requested", () => {
  const d = session();
  press(d, { name: "reason", at: 0 });
  assert.equal(d.visit.mark, null);
});

test("undo removes the marker", () => {
  const d = session();
  press(d, "end", "success", "undo", "submit");
  assert.equal(d.outbox.size, 0);
});

test("B goes back to the answer before, and Enter sends a correction of it", () => {
  const d = session();
  press(d, "end", "success", "submit", seek(2), "previous");
  assert.equal(d.visit.episode.id, "one");
  assert.equal(d.visit.mark.verdict, "success");
  press(d, "failure", "submit");
  const [first, second] = d.outbox.all();
  assert.deepEqual([second.item, second.verdict, second.corrects], ["one", "failure", first.uuid]);
  assert.deepEqual([d.visit.episode.id, d.playback.frame], ["two", 2], "back where one was");
});

test("a correction of a correction names the latest answer", () => {
  const d = session();
  press(d, "end", "success", "submit", "previous", "failure", "submit", "previous", "not_done", "submit");
  const sent = d.outbox.all();
  assert.deepEqual(sent.map((s) => s.corrects), [null, sent[0].uuid, sent[1].uuid]);
});

test("a cancelled correction changes nothing", () => {
  const d = session();
  press(d, "end", "success", "submit", "previous", "failure", "cancel");
  assert.equal(d.outbox.size, 1);
  assert.equal(d.visit.episode.id, "two");
  press(d, "previous");
  assert.equal(d.visit.mark.verdict, "success");
});

test("B twice goes two answers back, and leaving returns to the one in hand", () => {
  const d = session();
  press(d, "not_done", "submit", "not_done", "submit", "previous", "previous");
  assert.equal(d.visit.episode.id, "one");
  press(d, "previous");
  assert.match(d.message.text, /no earlier answer/);
  press(d, "cancel");
  assert.equal(d.visit.episode.id, "three");
});

test("a reopened page can correct an answer of an earlier page", () => {
  const d = session({ ids: [] });
  const earlier = { episode: payload("old"), uuid: "f".repeat(32), mark: { verdict: "success", step: 2, reason: null } };
  d.receive({ acks: [], queue: [payload("new")], counts: null, previous: [earlier] }, 0);
  press(d, "previous");
  assert.deepEqual([d.visit.episode.id, d.playback.step], ["old", 2]);
  press(d, "failure", "submit");
  assert.equal(d.outbox.all()[0].corrects, "f".repeat(32));
  assert.equal(d.visit.episode.id, "new");
});

test("an answered episode is not shown again before its acknowledgement", () => {
  const d = session();
  press(d, "not_done", "submit");
  d.receive({ acks: [], queue: ["one", "two", "three"].map((id) => payload(id)), counts: null }, 0);
  assert.deepEqual([d.visit.episode.id, ...d.queue.map((e) => e.id)], ["two", "three"]);
});

test("the server's queue never replaces the current episode", () => {
  const d = session();
  d.receive({ acks: [], queue: [payload("four")], counts: null }, 0);
  assert.deepEqual([d.visit.episode.id, ...d.queue.map((e) => e.id)], ["one", "four"]);
  d.receive({ acks: [], queue: null, counts: null }, 0);
  assert.deepEqual(d.queue.map((e) => e.id), ["four"], "null says nothing about the queue");
});

test("a rejected answer is shown, and its episode may return", () => {
  const d = session();
  press(d, "not_done", "submit");
  const [{ uuid }] = d.outbox.all();
  d.receive({ acks: [{ uuid, status: "rejected", message: "no such step" }], queue: [payload("one")], counts: null }, 0);
  assert.deepEqual(d.rejections.map((r) => r.message), ["no such step"]);
  assert.deepEqual(d.queue.map((e) => e.id), ["one"]);
  assert.equal(d.outbox.size, 0);
  press(d, "cancel");
  assert.equal(d.rejections.length, 0);
});

test("an episode that cannot be decoded is skipped and reported once", () => {
  const d = session({ ids: [] });
  const damaged = { ...payload("bad"), steps: 3 };
  d.receive({ acks: [], queue: [damaged, payload("good")], counts: null }, 0);
  assert.equal(d.visit.episode.id, "good");
  assert.match(d.message.text, /bad/);
});

test("an earlier answer whose episode cannot be decoded cannot be corrected, and others can", () => {
  const d = session({ ids: [] });
  const earlier = (episode) => ({ episode, uuid: "f".repeat(32), mark: { verdict: "not_done", step: null, reason: null } });
  const previous = [earlier(payload("old")), earlier({ ...payload("bad"), steps: 3 })];
  d.receive({ acks: [], queue: [payload("new")], counts: null, previous }, 0);
  assert.match(d.message.text, /Skipped an episode that cannot be displayed: .*bad/);
  assert.equal(d.visit.episode.id, "new");
  press(d, "previous");
  assert.equal(d.visit.episode.id, "old");
});

test("playing shows every frame once, at the chosen speed, and stops at the end", () => {
  const d = session({ settings: { autoplay: true, speed: 4 } });
  const shown = [];
  for (let now = 0; now <= 5000; now += 16) if (d.playback.tick(now)) shown.push(d.playback.frame);
  assert.deepEqual(shown, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.equal(d.playback.playing, false);
  assert.equal(d.playback.watchedShare, 1);
});

test("a stalled page skips no frame", () => {
  const d = session({ settings: { autoplay: true, speed: 30 } });
  d.playback.tick(10000);
  assert.equal(d.playback.frame, 1);
  d.playback.tick(10001);
  assert.ok(d.playback.frame <= 2);
});

test("the space bar plays again from takeover once the end is reached", () => {
  const d = session();
  press(d, "end", "play");
  assert.deepEqual([d.playback.playing, d.playback.frame], [true, 4]);
});

test("marking stops the playback at the marker", () => {
  const d = session({ settings: { autoplay: true, speed: 8 } });
  press(d, seek(7), "play", "success");
  assert.equal(d.playback.playing, false);
  assert.equal(d.playback.frame, 7);
});

test("only frames of the continuation count as watched", () => {
  const d = session();
  press(d, "start", "takeover");
  assert.equal(d.playback.watchedShare, 0);
  press(d, "forward", "forward", "back");
  assert.equal(d.playback.watchedShare, 2 / 6);
});

test("keys jump from utterance to utterance", () => {
  const d = session({ says: { 1: 1, 6: 2 } });
  press(d, "later");
  assert.equal(d.playback.frame, 2);
  press(d, "later");
  assert.equal(d.playback.frame, 7);
  press(d, "later");
  assert.match(d.message.text, /No later utterance/);
  press(d, "earlier");
  assert.equal(d.playback.frame, 2);
});

test("speed stays within its range", () => {
  const d = session();
  for (let i = 0; i < 20; i++) press(d, "faster");
  assert.equal(d.playback.speed, 30);
  for (let i = 0; i < 20; i++) press(d, "slower");
  assert.equal(d.playback.speed, 1);
});

test("invalid stored settings are not used", () => {
  assert.equal(session({ settings: { speed: 1e9 } }).playback.speed, 8);
});

test("a full storage keeps the answer in the page, with a notice", () => {
  const storage = new Storage();
  const d = session({ storage });
  storage.full = true;
  press(d, "not_done", "submit");
  assert.equal(d.outbox.size, 1);
  assert.equal(d.outbox.volatile, true);
});

test("a correction can have a reason, and Esc always cancels it", () => {
  const d = session();
  press(d, "cannot_judge", { name: "reason", at: 0 }, "submit", "previous", { name: "reason", at: 2 }, "submit");
  assert.match(d.outbox.all()[1].reason, /cannot tell/);
  press(d, "previous", { name: "reason", at: 0 }, "cancel", "previous");
  assert.match(d.visit.mark.reason, /cannot tell/, "what was left is as it was");
  press(d, "cancel");
  assert.equal(d.visit.episode.id, "two");
  assert.equal(d.outbox.size, 2);
});

// A session whose pictures come when `arrive` is called, or turn out to be broken.
function blind() {
  const seen = { state: "coming" };
  const d = session({ pictured: () => seen.state });
  const arrive = (state = "here") => {
    seen.state = state;
    return d.arrived(0);
  };
  return { d, arrive };
}

test("keys typed while pictures load are applied in order at the intended step", () => {
  const { d, arrive } = blind();
  press(d, "takeover", "forward", "forward", "success", "forward", "forward");
  assert.deepEqual([d.visit.mark, d.playback.step], [null, 2]);
  assert.match(d.message.text, /Loading pictures.*take effect/);
  assert.equal(arrive(), false);
  assert.deepEqual(d.visit.mark, { verdict: "success", step: 2, reason: null });
  assert.equal(d.playback.step, 4);
});

test("a waiting Enter sends the waiting marker once", () => {
  const { d, arrive } = blind();
  press(d, seek(6), "failure", "submit");
  assert.equal(d.outbox.size, 0);
  assert.equal(arrive(), true, "there is something to send");
  assert.deepEqual(d.outbox.all().map((s) => [s.item, s.verdict, s.step]), [["one", "failure", 2]]);
  assert.equal(d.visit.episode.id, "two");
});

test("keys typed after Enter do not mark an unseen episode", () => {
  const { d, arrive } = blind();
  press(d, seek(6), "failure", "submit", "end", "success", "submit");
  arrive();
  assert.equal(d.outbox.size, 1);
  assert.deepEqual([d.visit.episode.id, d.visit.mark, d.playback.frame], ["two", null, 0]);
  assert.match(d.message.text, /discarded, since this episode was not visible/);
});

test("Esc discards waiting keys, and an episode without pictures can be left", () => {
  const { d, arrive } = blind();
  press(d, seek(6), "success", "cancel");
  assert.match(d.message.text, /discarded/);
  press(d, "cannot_judge", { name: "reason", at: 2 }, "submit");
  assert.deepEqual([d.visit.episode.id, d.outbox.all()[0].verdict], ["two", "cannot_judge"]);
  arrive();
  assert.equal(d.visit.mark, null);
});

test("with broken pictures waiting marks are rejected and other keys applied", () => {
  const { d, arrive } = blind();
  press(d, seek(6), "success", "cannot_judge", { name: "reason", at: 2 }, "submit");
  arrive("broken");
  assert.deepEqual(d.outbox.all().map((s) => s.verdict), ["cannot_judge"]);
});

test("a correction whose new verdict is rejected never sends the old one", () => {
  for (const at of [0, 4]) {
    const d = session();
    press(d, "end", "success", "submit", "previous", seek(at), "failure", "submit");
    assert.equal(d.outbox.size, 1, "nothing was corrected");
    assert.match(d.message.text, /No verdict yet/);
    press(d, seek(6), "failure", "submit");
    assert.deepEqual(d.outbox.all()[1].verdict, "failure");
  }
});

test("a correction whose new verdict waits for pictures that are broken never sends the old one", () => {
  const seen = { state: "here" };
  const d = session({ pictured: () => seen.state });
  press(d, "end", "success", "submit");
  seen.state = "coming";
  press(d, "previous", "failure", "submit");
  seen.state = "broken";
  d.arrived(0);
  assert.deepEqual([d.outbox.size, d.visit.mark], [1, null]);
  press(d, "cancel", "previous");
  assert.equal(d.visit.mark.verdict, "success", "the answer stands as it was");
});

test("a rejected verdict takes away the mark that was there, in a first answer too", () => {
  const d = session();
  press(d, "end", "success", "takeover", "failure");
  assert.equal(d.visit.mark, null);
  assert.match(d.message.text, /only the continuation is judged.*The previous marker was removed/);
});

test("an episode is sent once, and then only by its id", () => {
  const d = session();
  assert.deepEqual(d.held, ["one", "two", "three"]);
  d.receive({ acks: [], queue: [{ id: "three" }, payload("four"), { id: "one" }] }, 0);
  assert.deepEqual([d.held, d.lacks], [["one", "three", "four"], false]);
  d.receive({ acks: [], queue: [{ id: "two" }, { id: "three" }], more: false }, 0);
  assert.deepEqual([d.held, d.lacks], [["one", "three"], true], "two was put away, and is asked for again");
  d.receive({ acks: [], queue: [{ id: "three" }], more: true }, 0);
  assert.equal(d.lacks, true);
});

test("the current episode stays available during a correction", () => {
  const d = session();
  press(d, "not_done", "submit", "previous");
  assert.deepEqual(d.held, ["one", "two", "three"]);
});

test("a training answer waits for its feedback and is not a judgement", () => {
  const d = session({ ids: [] });
  const round = { size: 2, answered: 0, agreed: 0, share: 0.8, rounds: 0 };
  const lessons = ["one", "two"].map((id) => ({ ...payload(id), training: true }));
  d.receive({ acks: [], queue: lessons, training: round }, 0);
  press(d, seek(6), "success", "submit");
  const [sent] = d.outbox.all();
  assert.deepEqual([sent.training, sent.verdict, sent.step], [true, "success", 2]);
  assert.equal(d.visit.episode.id, "one", "it stays to be looked at");
  press(d, "submit", "failure", "undo", "previous");
  assert.match(d.message.text, /Comparing your answer/);
  assert.deepEqual([d.outbox.size, d.visit.mark.verdict], [1, "success"]);
  const ack = { uuid: sent.uuid, status: "training", message: "It agrees.", truth: "success", step: 3 };
  d.receive({ acks: [ack], queue: [{ id: "two" }], training: { ...round, answered: 1, agreed: 1 } }, 0);
  assert.deepEqual([d.message.text, d.visit.answer.step], ["It agrees. Press Enter to continue.", 3]);
  press(d, seek(2), "submit");
  assert.deepEqual([d.visit.episode.id, d.history.length, d.training.answered], ["two", 0, 1]);
});
