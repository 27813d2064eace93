// The page on which continuations are judged: the Viewer, a session, and the channel to the server.

import { Channel } from "./channel.mjs";
import { drawings } from "./drawings.mjs";
import { count } from "./episode.mjs";
import { JUDGING_KEYS, Judging } from "./judging.mjs";
import { PLAYBACK_KEYS } from "./keys.mjs";
import { Outbox } from "./outbox.mjs";
import { closeConnectionDialogs, isTyping, keep, keepFocus, localStore, mounted, ownerOf, recall, sayAnothersLink } from "./page.mjs";
import { REASONS, Session } from "./session.mjs";
import { Viewer } from "./viewer.mjs";

const ASK = 15000; // ms between questions for work while there is none
const RENEW = 240000; // ms between signs of life, which renew the leases
const IDLE = 120000; // ms of one pause that count as time spent, at most
const SETTINGS = "sts:settings";
const STILL = "(prefers-reduced-motion)";

class Player {
  /** @type {Session | undefined} */ session;
  /** @type {Channel | undefined} */ channel;
  /** @type {string | undefined} */ author;

  /** @param {ShadowRoot} root */
  constructor(root) {
    this.root = root;
    this.store = localStore();
    this.abort = new AbortController();
    this.calls = 0;
    this.seenAt = performance.now();
    const act = (action, now) => this.#act(action, now);
    this.viewer = new Viewer(this.$(".stage"), {
      drawings,
      settings: recall(this.store, SETTINGS) ?? { autoplay: !matchMedia(STILL).matches },
      rows: [...PLAYBACK_KEYS, ...JUDGING_KEYS],
      act,
      arrived: (now) => this.session.arrived(now) && this.channel.flush(),
      ticked: () => this.#spend(),
      rendered: () => this.session && this.#render(),
    });
    this.judging = new Judging(root, {
      ask: (action) => this.viewer.ask(action),
      symbol: (episode, object) => this.viewer.board.symbol(episode, object),
    });
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
  /** @param {{ data: Judged & { author: string, trouble?: string, empty: { title: string, text: string } },
   *   setStateValue: (name: string, value: object) => void }} component */
  update({ data, setStateValue }) {
    this.author ??= ownerOf(data.author);
    this.data = data;
    this.session ??= this.#begin();
    this.channel ??= new Channel({ outbox: this.session.outbox, author: this.author });
    this.channel.send = setStateValue;
    if (this.author !== data.author) return this.#close();
    if (this.closed) this.#reopen();
    if (data.acks.length) this.channel.answered();
    if (!this.session.visit) this.seenAt = performance.now(); // there was nothing to spend time on
    this.session.receive(data, performance.now());
    if (this.calls++ === 0) {
      if (this.session.outbox.size) this.channel.flush();
      if (!isTyping(document.activeElement)) this.$(".player").focus({ preventScroll: true });
    }
    this.anew = true;
    this.viewer.render();
  }

  #begin() {
    return new Session({
      outbox: new Outbox(this.store, this.author),
      random: (array) => crypto.getRandomValues(array), // randomUUID exists on https and localhost only
      playback: this.viewer.playback,
    });
  }

  // Another person's link was opened in this browser, and what this page sends would count as theirs:
  // it sends nothing more. What is unsent stays under its author's name until they come back.
  #close() {
    this.closed = true;
    this.viewer.open(null);
    const unsaved = this.session.outbox.size;
    this.$(".judging").hidden = this.$(".keys").hidden = this.$(".refused").hidden = true;
    sayAnothersLink(this.root, unsaved ? count(unsaved, "answer") : "");
  }

  #reopen() {
    this.closed = false;
    this.viewer.playback.open(this.session.visit, performance.now(), false);
  }

  #keepInTouch() {
    if (!this.session || this.closed) return;
    this.channel.keepInTouch(this.session.visit ? RENEW : ASK);
    this.#renderConnection();
  }

  // ---- what a person does

  #listen() {
    const { signal } = this.abort;
    const on = (target, type, listener) => target.addEventListener(type, listener, { signal });
    on(document, "visibilitychange", () => this.#visibility());
    on(this.root, "mousedown", keepFocus);
    on(this.root, "click", ({ target }) => {
      const button = target.closest("button[data-action]");
      if (!button || button.closest(".viewer")) return;
      const { action, at, frame } = button.dataset;
      this.viewer.ask({ name: action, at: +at, frame: +frame });
    });
  }

  #act(action, now) {
    if (!this.session || this.closed) return;
    this.#spend();
    const inWords = action.name === "reason" && action.at === REASONS.length && this.session.reasons;
    const sending = this.session.act(action, now);
    keep(this.store, SETTINGS, this.viewer.playback.settings);
    if (sending) this.channel.flush();
    if (inWords) this.judging.askForWords();
  }

  #spend() {
    const now = performance.now();
    if (!document.hidden) this.session?.spend(Math.min(now - this.seenAt, IDLE));
    this.seenAt = now;
  }

  #visibility() {
    if (!this.session) return;
    if (document.hidden) {
      this.session.spend(Math.min(performance.now() - this.seenAt, IDLE));
      this.viewer.playback.playing = false;
      this.viewer.render();
    }
    this.seenAt = performance.now();
  }

  // ---- what is shown

  #render() {
    const { session, viewer } = this;
    const { visit, interrupted, queue } = session;
    if (this.closed) return;
    const host = this.$(".player");
    const item = visit?.episode.id ?? "";
    if (host.dataset.item !== item) host.dataset.item = item;
    const next = queue[0] && { episode: queue[0], frame: 0 };
    viewer.soon = [interrupted, next].filter(Boolean);
    const { mark } = visit ?? {};
    const sign = { success: "✓", failure: "✗" }[mark?.verdict];
    const at = mark?.step && visit.episode.takeover + mark.step;
    viewer.flag = at ? { frame: at, sign, text: `${mark.verdict} is marked here` } : null;
    viewer.overlay = visit?.episode.criterion ?? null;
    this.judging.render(session, this.anew);
    this.anew = false;
    this.$(".empty").hidden = !!visit;
    this.#renderConnection();
  }

  #renderConnection() {
    const { session, data } = this;
    const unsaved = session.outbox.size;
    const kept = session.outbox.volatile ? "this browser keeps nothing: leave the page open" : "kept in this browser";
    const waits = `${unsaved} unsaved, ${kept}; will be sent when the connection returns`;
    const broken = this.viewer.playback.picture === "broken";
    const trouble =
      data.trouble ||
      (this.channel.lost && unsaved ? `Connection lost. ${waits}. Go on meanwhile.` : "") ||
      (broken ? "The pictures of this episode cannot be shown: X, a reason, Enter goes on." : "");
    const status = this.$(".status");
    const text = trouble || session.message.text;
    if (status.textContent !== text) status.textContent = text;
    status.className = `status ${trouble ? "warning" : session.message.tone}`;
    this.#renderProgress(unsaved);
    this.#renderRefused();
    if (!session.visit) this.#renderEmpty(unsaved);
  }

  #renderProgress(unsaved) {
    const { counts, queue } = this.session;
    const done = counts ? `${counts.done} judged by you · ` : "";
    const missing = counts?.broken ?? 0;
    const blank = missing ? ` · ${count(missing, "episode")} cannot be shown; tell whoever runs this study` : "";
    const progress = this.$(".progress");
    progress.textContent = `${done}${queue.length} ready to follow · ${unsaved ? `${unsaved} unsaved` : "all saved"}${blank}`;
    progress.classList.toggle("unsaved", unsaved > 0);
  }

  #renderRefused() {
    const { refused } = this.session;
    const box = this.$(".refused");
    box.hidden = !refused.length;
    const notes = refused.map(({ message, text }) => `Not accepted: ${message}${text ? ` (“${text}”)` : ""}.`);
    if (notes.length) notes.push("Esc closes this note.");
    if (box.textContent !== notes.join(" ")) box.textContent = notes.join(" ");
  }

  #renderEmpty(unsaved) {
    const { session, data } = this;
    const title = this.channel.lost ? "Connection lost" : "Saving";
    const text = `${unsaved} unsaved, kept in this browser; will be sent when the connection returns.`;
    const empty = unsaved ? { title, text } : data.empty;
    this.$(".empty h2").textContent = empty.title;
    this.$(".empty p").textContent = empty.text + (session.history.length ? " B goes back to your last answer." : "");
  }
}

export default mounted("player", (root) => new Player(root));
