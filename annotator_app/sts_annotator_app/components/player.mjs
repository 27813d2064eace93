// The judging page: the Viewer, a session and the channel to the server.

import { Activity } from "./activity.mjs";
import { ConnectedPage } from "./connected.mjs";
import { drawings } from "../../../sts/viewer/drawings.mjs";
import { count } from "../../../sts/viewer/episode.mjs";
import { JUDGING_KEYS, Judging } from "./judging.mjs";
import { PLAYBACK_KEYS } from "../../../sts/viewer/keys.mjs";
import { Notices } from "./notices.mjs";
import { Outbox, uuid } from "./outbox.mjs";
import { keep, showOtherPerson } from "./browser.mjs";
import { isTyping, mounted } from "../../../sts/viewer/page.mjs";
import { Session } from "./session.mjs";
import { Turn } from "./tabs.mjs";
import { REASONS, SIGNS } from "../../../sts/viewer/verdicts.mjs";
import { Viewer } from "../../../sts/viewer/viewer.mjs";
import { Visits } from "./visits.mjs";

const LOADING = { title: "Loading ...", text: "" };
const POLL = 15000; // ms between requests for work with an empty queue
const RENEW = 240000; // ms between heartbeats, which renew the leases
const AWAY = 900000; // ms without input after which leases are not renewed
const MOMENT = 400; // ms before a waiting tab shows a notice
const SETTINGS = "sts:settings";
const random = (array) => crypto.getRandomValues(array); // randomUUID exists on https and localhost only

class Player extends ConnectedPage {
  /** @type {Session | undefined} @override */ session = undefined;
  /** @type {Turn | undefined} */ turn;

  /** @param {ShadowRoot} root */
  constructor(root) {
    super(root);
    this.activity = new Activity(performance.now());
    this.notices = new Notices(root);
    const act = (action, now) => this.#act(action, now);
    this.viewer = new Viewer(this.$(".stage"), {
      drawings,
      settings: this.settings(SETTINGS),
      rows: [...PLAYBACK_KEYS, ...JUDGING_KEYS],
      act,
      arrived: (now) => this.session?.arrived(now) && this.channel.flush(),
      ticked: () => this.spend(),
      rendered: () => this.session && this.#render(),
    });
    this.judging = new Judging(root, {
      ask: (action) => this.viewer.ask(action),
      symbol: (episode, object) => this.viewer.board.symbol(episode, object),
    });
    this.#listen();
    this.#measure();
  }

  // Tells the styles how much of a narrow page is above the board, which takes the rest.
  #measure() {
    const stage = this.$(".stage");
    const above = new ResizeObserver(() => this.$(".player").style.setProperty("--above", `${stage.offsetTop}px`));
    for (const part of this.root.querySelectorAll(".banner, .instruction, .given-at, .criterion, .legend")) above.observe(part);
    this.abort.signal.addEventListener("abort", () => above.disconnect());
  }

  /** @override */
  destroy() {
    this.#reset();
    this.turn?.end();
    super.destroy();
  }

  /** @override */
  open() {
    if (!this.turn) return this.#waitForTurn();
    this.redraw = true;
    this.viewer.render();
  }

  // Only one tab of a person is active, so that no two answer the same episode.
  #waitForTurn() {
    this.turn = new Turn({
      name: this.author,
      storage: this.store,
      tab: uuid(random),
      gained: () => this.#begin(),
      lost: () => this.#standBy(),
    });
    setTimeout(() => this.turn?.held === false && this.#standBy(), MOMENT);
  }

  #standBy() {
    this.#reset();
    this.notices.showInstead(
      "This page is open in another tab",
      "Continue there. When you close that tab, this one takes over.",
    );
  }

  #begin() {
    this.session = new Session({
      outbox: new Outbox(this.store, this.author),
      visits: new Visits(this.store, this.author),
      random,
      playback: this.viewer.playback,
    });
    this.connect(this.session.outbox, () => ({
      has: this.session.held,
      midnight: new Date().setHours(0, 0, 0, 0) / 1000,
    }));
  }

  /** @override @param {Judged & { empty: { title: string, text: string, link?: string } }} data */
  receive(data, first) {
    const { session } = this;
    this.empty = data.empty;
    this.spend();
    session.receive(data, performance.now());
    if (first && !isTyping(document.activeElement)) this.$(".player").focus({ preventScroll: true });
    if (session.lacks || (first && session.outbox.size)) this.channel.flush();
    this.redraw = true;
    this.viewer.render();
  }

  // Resets the page; the current visit is stored in the browser.
  #reset() {
    this.#keep();
    this.channel?.end();
    this.session = this.channel = undefined;
    this.viewer.open(null);
    this.$(".judging").hidden = this.$(".keys").hidden = this.$(".rejections").hidden = true;
  }

  #keep() {
    if (!this.session) return;
    this.spend();
    this.session.keep();
  }

  // Unsent answers stay in storage under their author's name.
  /** @override */
  close() {
    if (this.closed) return;
    this.closed = true;
    this.#reset();
    this.turn?.end();
    this.turn = undefined;
    const unsaved = new Outbox(this.store, this.author).size;
    showOtherPerson(this.root, unsaved ? count(unsaved, "unsaved answer") : "");
  }

  /** @override */
  keepInTouch() {
    if (!this.session) return;
    this.#keep();
    const there = !this.session.visit || performance.now() - this.activity.touched < AWAY;
    this.channel.keepInTouch(this.session.visit ? RENEW : POLL, there);
    this.#renderNotices();
  }

  // ---- input

  #listen() {
    this.listenToActivity();
    window.addEventListener("pagehide", () => this.#keep(), { signal: this.abort.signal });
    this.listenToButtons(({ action, at, frame }) => this.viewer.ask({ name: action, at: +at, frame: +frame }));
  }

  #act(action, now) {
    if (!this.session) return;
    this.spend();
    const ownWords = action.name === "reason" && action.at === REASONS.length && this.session.reasons;
    const sending = this.session.act(action, now);
    keep(this.store, SETTINGS, this.viewer.playback.settings);
    this.session.keep();
    if (sending) this.channel.flush();
    if (ownWords) this.judging.askForWords();
  }

  /** @override */
  changeVisibility() {
    this.#keep();
    super.changeVisibility();
  }

  // ---- display

  #render() {
    const { session, viewer } = this;
    const { visit, interrupted, queue } = session;
    const host = this.$(".player");
    const item = visit?.episode.id ?? "";
    if (host.dataset.item !== item) host.dataset.item = item;
    const next = queue[0] && { episode: queue[0], frame: 0 };
    viewer.soon = [interrupted, next].filter(Boolean);
    viewer.flags = visit ? flagsOf(visit) : [];
    viewer.overlay = visit?.episode.criterion ?? null;
    this.judging.render(session, this.redraw);
    this.redraw = false;
    this.$(".empty").hidden = !!visit;
    this.#renderNotices();
  }

  #renderNotices() {
    const { session, empty, channel } = this;
    const broken = this.viewer.playback.picture === "broken";
    const { lost, trouble, begun, problem } = channel;
    const shown = begun && !session.lacks ? empty : { ...LOADING, text: problem };
    this.notices.render({ session, lost, broken, trouble, empty: shown });
  }
}

// Flags on the timeline: the annotator's marker and, in training, the known one.
/** @param {Visit} visit */
function flagsOf({ episode, mark, answer }) {
  const at = (step, verdict, text, sign = SIGNS[verdict]) => ({ frame: episode.takeover + step, sign, text });
  const own = mark?.step ? [at(mark.step, mark.verdict, `your marker: ${mark.verdict}`)] : [];
  const known = answer?.step ? [at(answer.step, answer.truth, `known verdict: ${answer.truth}`, "★")] : [];
  return [...own, ...known];
}

export default mounted("player", (root) => new Player(root));
