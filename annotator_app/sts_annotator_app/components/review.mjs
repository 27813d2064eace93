// The page on which judgements are adjudicated and reviewed: the Viewer, a session, and the channel to
// the server.

import { Activity } from "./activity.mjs";
import { Channel } from "./channel.mjs";
import { drawings } from "../../../sts/viewer/drawings.mjs";
import { count, decode } from "../../../sts/viewer/episode.mjs";
import { Judging } from "./judging.mjs";
import { PLAYBACK_KEYS } from "../../../sts/viewer/keys.mjs";
import { Opinions, flagsOf } from "./opinions.mjs";
import { Outbox } from "./outbox.mjs";
import { closeConnectionDialogs, keep, localStore, ownerOf, recall, sayAnothersLink } from "./browser.mjs";
import { isTyping, keepFocus, mounted } from "../../../sts/viewer/page.mjs";
import { keyRows } from "../../../sts/viewer/panel.mjs";
import { Reviewing } from "./reviewing.mjs";
import { REASONS } from "../../../sts/viewer/verdicts.mjs";
import { Viewer } from "../../../sts/viewer/viewer.mjs";
import { Visits } from "./visits.mjs";

const HEAR = 10000; // ms between questions for what others have said and decided
const PLACED = "sts:settings";
const WORKED = ["keydown", "pointerdown", "pointermove", "wheel"]; // by what somebody is seen to be there

/** @type {KeyRow[]} */
const REVIEWING_KEYS = [
  { keys: ["s"], show: "S", action: "success", help: "success, at this step" },
  { keys: ["f"], show: "F", action: "failure", help: "failure, at this step" },
  { keys: ["n"], show: "N", action: "not_done", help: "not done by the end" },
  { keys: ["x"], show: "X", action: "cannot_judge", help: "cannot judge (then 1 to 4: why)" },
  { keys: ["1", "2", "3", "4", "5", "6", "7", "8"], show: "1 to 8", action: "reason", help: "failures: the kind of error" },
  { keys: ["e"], show: "E", action: "words", help: "say something about it in words" },
  { keys: ["o"], show: "O", action: "leave", help: "leave it open, and say why" },
  { keys: ["h"], show: "H", action: "guideline", help: "how doubtful cases are judged" },
  { keys: ["u"], show: "U", action: "undo", help: "take away what you have chosen" },
  { keys: ["Enter"], show: "Enter", action: "submit", help: "decide and go on" },
  { keys: ["b"], show: "B", action: "previous", help: "back to the one that you decided before" },
  { keys: ["q"], show: "Q", action: "queue", help: "the next queue" },
  { keys: ["g"], show: "G", action: "again", help: "show again what you left open" },
  { keys: ["Escape"], show: "Esc", action: "cancel", help: "leave a reason, a note or this help" },
  { keys: ["?"], show: "?", action: "help", help: "show or hide these keys" },
];

class ReviewPage {
  /** @type {Reviewing | undefined} */ session;
  /** @type {Channel | undefined} */ channel;
  /** @type {string | undefined} */ author;

  /** @param {ShadowRoot} root */
  constructor(root) {
    this.root = root;
    this.store = localStore();
    this.abort = new AbortController();
    this.activity = new Activity(performance.now());
    const rows = [...PLAYBACK_KEYS, ...REVIEWING_KEYS];
    this.viewer = new Viewer(this.$(".stage"), {
      drawings,
      settings: recall(this.store, PLACED) ?? { autoplay: !matchMedia("(prefers-reduced-motion)").matches },
      rows,
      act: (action, now) => this.#act(action, now),
      ticked: () => this.#spend(),
      rendered: () => this.session && this.#render(),
    });
    this.judging = new Judging(root, {
      ask: (action) => this.viewer.ask(action),
      symbol: (episode, object) => this.viewer.board.symbol(episode, object),
    });
    this.$(".keys dl").replaceChildren(...keyRows(rows));
    this.opinions = new Opinions(root);
    this.#listen();
    closeConnectionDialogs(this.abort.signal);
    this.timer = setInterval(() => this.#keepInTouch(), 1000);
  }

  /** @param {string} selector @returns {any} what the markup has there */
  $(selector) {
    return this.root.querySelector(selector);
  }

  destroy() {
    this.abort.abort();
    clearInterval(this.timer);
    this.viewer.destroy();
  }

  // Runs on mount and whenever `data` or the theme changes.
  /** @param {{ data: ReviewData, setStateValue: (name: string, value: object) => void }} component */
  update({ data, setStateValue }) {
    this.author ??= ownerOf(data.author);
    this.data = data;
    const first = !this.session;
    this.session ??= this.#begin();
    this.channel.send = setStateValue;
    if (this.author !== data.author) return this.#close();
    this.closed = false;
    if (data.acks.length) this.channel.answered();
    this.#spend();
    this.session.receive(data, performance.now());
    if (first) {
      if (this.session.outbox.size || data.queue !== this.session.queue) this.channel.flush();
      if (!isTyping(document.activeElement)) this.$(".review").focus({ preventScroll: true });
    }
    this.anew = true;
    this.viewer.render();
  }

  #begin() {
    const outbox = new Outbox(this.store, `review:${this.author}`);
    const session = new Reviewing({
      outbox,
      visits: (queue) => new Visits(this.store, `review:${queue}:${this.author}`),
      random: (array) => crypto.getRandomValues(array), // randomUUID exists on https and localhost only
      playback: this.viewer.playback,
      queue: recall(this.store, this.#place),
    });
    this.channel = new Channel({ outbox, author: this.author, more: () => session.asks });
    return session;
  }

  get #place() {
    return `sts:review:queue:${this.author}`;
  }

  // Another person's link was opened in this browser: what this page sends would count as theirs.
  #close() {
    this.closed = true;
    this.viewer.open(null);
    const unsaved = this.session.outbox.size;
    this.$(".judging").hidden = this.$(".keys").hidden = this.$(".refused").hidden = true;
    sayAnothersLink(this.root, unsaved ? count(unsaved, "decision") : "");
  }

  #keepInTouch() {
    if (!this.session || this.closed) return;
    this.#spend();
    this.session.keep();
    this.channel.keepInTouch(HEAR);
    this.#renderNotices();
  }

  // ---- what a person does

  #listen() {
    const { signal } = this.abort;
    const on = (target, type, listener) => target.addEventListener(type, listener, { signal });
    for (const type of WORKED) window.addEventListener(type, () => this.#work(), { signal, capture: true, passive: true });
    on(document, "visibilitychange", () => this.#visibility());
    on(window, "pagehide", () => this.closed || this.session?.keep());
    on(this.root, "mousedown", keepFocus);
    on(this.root, "click", ({ target }) => {
      const button = target.closest("button[data-action]");
      if (!button || button.closest(".viewer")) return;
      const { action, at, frame, text } = button.dataset;
      this.viewer.ask({ name: action, at: +at, frame: +frame, text });
    });
    on(this.$(".words input"), "input", ({ target }) => this.viewer.ask({ name: "words", text: target.value }));
  }

  #act(action, now) {
    const { session } = this;
    if (!session || this.closed) return;
    this.#spend();
    const { name } = action;
    const ownWords = name === "reason" && action.at === REASONS.length && session.reasons;
    if (session.act(action, now)) this.channel.flush();
    keep(this.store, PLACED, this.viewer.playback.settings);
    keep(this.store, this.#place, session.queue);
    session.keep();
    if (ownWords) this.judging.askForWords();
    this.viewer.render();
    if (session.visit && (name === "leave" || (name === "words" && action.text === undefined))) this.opinions.askForWords();
  }

  #spend() {
    this.session?.spend(this.activity.spent(performance.now(), this.viewer.playback.playing));
  }

  #work() {
    this.#spend();
    this.activity.touch(performance.now());
  }

  #visibility() {
    this.#spend();
    this.activity.visible = !document.hidden;
    if (!document.hidden || !this.session) return;
    this.viewer.playback.stop();
    this.viewer.render();
  }

  // ---- what is shown

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
    this.judging.renderShown(session, this.anew);
    this.opinions.render(session);
    this.anew = false;
    this.$(".empty").hidden = !!visit;
    this.#renderNotices();
  }

  // The pictures of the case that follows are decoded before somebody waits for them.
  get #soon() {
    const next = this.session.cases[0]?.episode;
    if (this.next?.id !== next?.id) {
      try {
        this.next = next && decode(next);
      } catch {
        this.next = undefined; // it is left out when its turn comes, and that is said
      }
    }
    return this.next ? [{ episode: this.next, frame: 0 }] : [];
  }

  #renderNotices() {
    const { session, data, channel } = this;
    const unsaved = session.outbox.size;
    const kept = session.outbox.volatile ? "this browser keeps nothing: leave the page open" : "kept in this browser";
    const waits = `${unsaved} unsaved, ${kept}; will be sent when the connection returns`;
    const trouble = data.trouble || (channel.lost && unsaved ? `Connection lost. ${waits}. Go on meanwhile.` : "");
    this.#write(".status", trouble || session.message.text);
    this.$(".status").className = `status ${trouble ? "warning" : session.message.tone}`;
    const { done = 0, of = 0 } = session.queues?.[session.queue] ?? {};
    this.#write(".progress", `${done} of ${of} decided · ${unsaved ? `${unsaved} unsaved` : "all saved"}`);
    this.$(".progress").classList.toggle("unsaved", unsaved > 0);
    const notes = [...session.refused.map(({ message }) => `Not kept: ${message}.`), ...session.news];
    this.$(".refused").hidden = !notes.length;
    if (notes.length) notes.push("Esc closes this note.");
    this.#write(".refused", notes.join(" "));
    if (session.visit) return;
    const { title = "One moment ...", text = "" } = data.queue === session.queue ? data.empty : {};
    this.#write(".empty h2", unsaved ? "Saving" : title);
    this.#write(".empty p", unsaved ? `${waits}.` : text);
  }

  /** @param {string} selector @param {string} text */
  #write(selector, text) {
    const box = this.$(selector);
    if (box.textContent !== text) box.textContent = text;
  }
}

export default mounted("review", (root) => new ReviewPage(root));
