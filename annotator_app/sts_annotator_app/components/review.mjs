// The review page for adjudication and error analysis: the Viewer, a session and the channel to the
// server.

import { Activity } from "./activity.mjs";
import { ConnectedPage } from "./connected.mjs";
import { drawings } from "../../../sts/viewer/drawings.mjs";
import { count, decode } from "../../../sts/viewer/episode.mjs";
import { Judging } from "./judging.mjs";
import { PLAYBACK_KEYS } from "../../../sts/viewer/keys.mjs";
import { VerdictPanel, flagsOf } from "./verdict_panel.mjs";
import { Outbox, describeUnsaved } from "./outbox.mjs";
import { keep, recall, showOtherPerson } from "./browser.mjs";
import { isTyping, mounted } from "../../../sts/viewer/page.mjs";
import { keyRows } from "../../../sts/viewer/panel.mjs";
import { Reviewing } from "./reviewing.mjs";
import { REASONS } from "../../../sts/viewer/verdicts.mjs";
import { Viewer } from "../../../sts/viewer/viewer.mjs";
import { Visits } from "./visits.mjs";

const REFRESH = 10000; // ms between requests for new verdicts and decisions
const PLACED = "sts:settings";
/** @type {KeyRow[]} */
const REVIEWING_KEYS = [
  { keys: ["s"], show: "S", action: "success", help: "success at this step" },
  { keys: ["f"], show: "F", action: "failure", help: "failure at this step" },
  { keys: ["n"], show: "N", action: "not_done", help: "not completed by the end" },
  { keys: ["x"], show: "X", action: "cannot_judge", help: "can't judge (then 1 to 4 for the reason)" },
  { keys: ["1", "2", "3", "4", "5", "6", "7", "8"], show: "1 to 8", action: "reason", help: "failures: choose the error type" },
  { keys: ["e"], show: "E", action: "words", help: "add a comment" },
  { keys: ["o"], show: "O", action: "leave", help: "skip, with a reason" },
  { keys: ["h"], show: "H", action: "guideline", help: "show or hide edge cases" },
  { keys: ["u"], show: "U", action: "undo", help: "remove your choice" },
  { keys: ["Enter"], show: "Enter", action: "submit", help: "decide and continue" },
  { keys: ["b"], show: "B", action: "previous", help: "go back to your previous decision" },
  { keys: ["q"], show: "Q", action: "queue", help: "go to the next queue" },
  { keys: ["g"], show: "G", action: "again", help: "show skipped clips again" },
  { keys: ["Escape"], show: "Esc", action: "cancel", help: "cancel a reason, or close a note or this list" },
  { keys: ["?"], show: "?", action: "help", help: "show or hide this list" },
];

class ReviewPage extends ConnectedPage {
  /** @type {Reviewing | undefined} @override */ session = undefined;
  /** @type {Partial<ReviewData>} */ data = {};

  /** @param {ShadowRoot} root */
  constructor(root) {
    super(root);
    this.activity = new Activity(performance.now());
    const rows = [...PLAYBACK_KEYS, ...REVIEWING_KEYS];
    this.viewer = new Viewer(this.$(".stage"), {
      drawings,
      settings: this.settings(PLACED),
      rows,
      act: (action, now) => this.#act(action, now),
      ticked: () => this.spend(),
      rendered: () => this.session && this.#render(),
    });
    this.judging = new Judging(root, {
      ask: (action) => this.viewer.ask(action),
      symbol: (episode, object) => this.viewer.board.symbol(episode, object),
    });
    this.$(".keys dl").replaceChildren(...keyRows(rows));
    this.verdictPanel = new VerdictPanel(root);
    this.#listen();
  }

  /** @override */
  open() {
    if (!this.session) return this.#begin();
    this.redraw = true;
    this.viewer.render();
  }

  /** @override @param {ReviewData} data */
  receive(data, first) {
    this.data = data;
    this.spend();
    this.session.receive(data, performance.now());
    if (first) {
      if (this.session.outbox.size || data.queue !== this.session.queue) this.channel.flush();
      if (!isTyping(document.activeElement)) this.$(".review").focus({ preventScroll: true });
    }
    this.redraw = true;
    this.viewer.render();
  }

  #begin() {
    const outbox = this.#outbox;
    this.session = new Reviewing({
      outbox,
      visits: (queue) => new Visits(this.store, `review:${queue}:${this.author}`),
      random: (array) => crypto.getRandomValues(array), // randomUUID exists on https and localhost only
      playback: this.viewer.playback,
      queue: recall(this.store, this.#place),
    });
    this.connect(outbox, () => this.session.asks);
  }

  get #outbox() {
    return this.session?.outbox ?? new Outbox(this.store, `review:${this.author}`);
  }

  get #place() {
    return `sts:review:queue:${this.author}`;
  }

  /** @override */
  close() {
    this.closed = true;
    this.viewer.open(null);
    const unsaved = this.#outbox.size;
    this.$(".judging").hidden = this.$(".keys").hidden = this.$(".rejections").hidden = true;
    showOtherPerson(this.root, unsaved ? count(unsaved, "unsaved decision") : "");
  }

  /** @override */
  keepInTouch() {
    if (!this.session || this.closed) return;
    this.spend();
    this.session.keep();
    this.channel.keepInTouch(REFRESH);
    this.#renderNotices();
  }

  // ---- input

  #listen() {
    const { signal } = this.abort;
    this.listenToActivity();
    window.addEventListener("pagehide", () => this.closed || this.session?.keep(), { signal });
    this.listenToButtons(({ action, at, frame, text }) => {
      this.viewer.ask({ name: action, at: +at, frame: +frame, text });
    });
    const type = ({ target }) => this.viewer.ask({ name: "words", text: target.value });
    this.$(".words input").addEventListener("input", type, { signal });
  }

  #act(action, now) {
    const { session } = this;
    if (!session || this.closed) return;
    this.spend();
    const { name } = action;
    const ownWords = name === "reason" && action.at === REASONS.length && session.reasons;
    if (session.act(action, now)) this.channel.flush();
    keep(this.store, PLACED, this.viewer.playback.settings);
    keep(this.store, this.#place, session.queue);
    session.keep();
    if (ownWords) this.judging.askForWords();
    this.viewer.render();
    if (session.visit && (name === "leave" || (name === "words" && action.text === undefined))) this.verdictPanel.askForWords();
  }

  // ---- display

  #render() {
    const { session, viewer } = this;
    if (this.closed) return;
    const { visit } = session;
    const host = this.$(".review");
    host.dataset.item = visit?.episode.id ?? "";
    host.dataset.queue = session.queue;
    viewer.soon = this.#soon;
    viewer.flags = visit ? flagsOf(visit) : [];
    viewer.overlay = visit?.episode.criterion ?? null;
    this.judging.renderShown(session, this.redraw);
    this.verdictPanel.render(session);
    this.redraw = false;
    this.#renderNotices();
  }

  // The next case, whose pictures are decoded ahead of time.
  get #soon() {
    const next = this.session.cases[0]?.episode;
    if (this.next?.id !== next?.id) {
      try {
        this.next = next && decode(next);
      } catch {
        this.next = undefined; // skipped with a message when its turn comes
      }
    }
    return this.next ? [{ episode: this.next, frame: 0 }] : [];
  }

  #renderNotices() {
    const { session, data } = this;
    const unsaved = session.outbox.size;
    const { done = 0, of = 0 } = session.queues?.[session.queue] ?? {};
    this.renderStatus(session, `${done} of ${of} decided`);
    this.renderNotes([...session.rejections.map(({ message }) => `Not saved: ${message}.`), ...session.news]);
    this.$(".empty").hidden = !!session.visit || (!this.channel.begun && !this.channel.problem);
    this.$('.empty [data-action="again"]').hidden = !session.queues?.[session.queue]?.left;
    if (session.visit) return;
    const { title = "Loading ...", text = this.channel.problem } = data.queue === session.queue ? data.empty : {};
    this.write(".empty h2", unsaved ? "Saving" : title);
    this.write(".empty p", unsaved ? describeUnsaved(session.outbox, "decision") : text);
  }
}

export default mounted("review", (root) => new ReviewPage(root));
