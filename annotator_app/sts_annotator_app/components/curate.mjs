// The curation page: the Viewer, the state of a draft and the channel to the server.

import { ConnectedPage } from "./connected.mjs";
import { Coverage } from "./coverage.mjs";
import { Curation } from "./curation.mjs";
import { CURATING_KEYS, Deciding } from "./deciding.mjs";
import { drawings } from "../../../sts/viewer/drawings.mjs";
import { EditorPanel } from "./editor.mjs";
import { count } from "../../../sts/viewer/episode.mjs";
import { Outbox } from "./outbox.mjs";
import { keep, recall, showOtherPerson } from "./browser.mjs";
import { isTyping, mounted } from "../../../sts/viewer/page.mjs";
import { Viewer } from "../../../sts/viewer/viewer.mjs";

const REFRESH = 5000; // ms between requests for decisions of others
const PREVIEW_POLL = 1500; // ms between requests while agent previews are missing
const PREVIEW_WAIT = 15000; // ms after which previews are requested at the usual rate
const EDIT_RETRY = 1500; // ms after which the preview of an edit is requested again
const DEBOUNCE = 120; // ms in which several moves become one request
const SETTINGS_HERE = "sts:curate:settings";

class CuratePage extends ConnectedPage {
  /** @type {Curation | undefined} */ curation;
  /** @type {{ empty?: { title?: string, text?: string } }} */ data = {};

  /** @param {ShadowRoot} root */
  constructor(root) {
    super(root);
    /** @type {string | null} */
    this.seen = null; // the current candidate, and since when
    this.seenAt = 0;
    // Registered before the Viewer, which uses the arrow keys as well.
    const { signal } = this.abort;
    window.addEventListener("keydown", (event) => this.#key(event), { signal, capture: true });
    this.viewer = new Viewer(this.$(".stage"), {
      drawings,
      settings: this.settings(SETTINGS_HERE),
      rows: CURATING_KEYS,
      act: (action, now) => this.#act(action, now),
      rendered: () => this.curation && this.#render(),
    });
    this.deciding = new Deciding(root, { symbol: (episode, object) => this.viewer.board.symbol(episode, object) });
    this.coverage = new Coverage(this.$(".coverage"), {
      choose: (parts) => this.#do({ name: "list", parts }),
      leave: () => this.#leaveCoverage(),
    });
    this.editor = new EditorPanel(this.$(".editing"), this.$(".timeline"), { ask: (action) => this.#do(action) });
    this.#listen();
  }

  /** @override */
  destroy() {
    clearTimeout(this.asking);
    super.destroy();
  }

  /** @override */
  open() {
    if (!this.curation) return this.#begin();
    this.redraw = true;
    this.viewer.render();
  }

  /** @override @param {Drafted & { empty: { title?: string, text?: string } }} data */
  receive(data, first) {
    this.data = data;
    const saves = this.curation.editing?.saves;
    this.curation.receive(data, performance.now());
    if (first && !isTyping(document.activeElement)) this.$(".curate").focus({ preventScroll: true });
    const isIncomplete = this.curation.lacks && data.acks.length + (data.candidates?.length ?? 0) > 0;
    const hasNoList = !!this.curation.draft && !this.curation.list;
    if ((saves && !this.curation.editing) || hasNoList || (!first && isIncomplete)) this.channel.flush();
    if (first && (this.curation.outbox.size || this.curation.at !== data.at || this.curation.lacks)) this.channel.flush();
    this.redraw = true;
    this.viewer.render();
    this.waits = false;
    if (this.curation.editing?.asks) this.#requestPreview();
  }

  // Requests the preview of an edit; of several changes only the latest.
  #requestPreview() {
    const now = performance.now();
    if (this.waits && now - this.askedAt < EDIT_RETRY) return;
    this.waits = true;
    this.askedAt = now;
    this.channel.flush();
  }

  #begin() {
    const outbox = this.#outbox;
    this.curation = new Curation({
      outbox,
      random: (array) => crypto.getRandomValues(array),
      playback: this.viewer.playback,
      place: recall(this.store, this.#placeKey),
    });
    this.connect(outbox, () => this.curation.asks);
  }

  get #outbox() {
    return this.curation?.outbox ?? new Outbox(this.store, `drafts:${this.author}`, "follows");
  }

  get #placeKey() {
    return `sts:curate:place:${this.author}`;
  }

  /** @override */
  close() {
    this.closed = true;
    this.viewer.open(null);
    const unsaved = this.#outbox.size;
    this.$(".judging").hidden = this.$(".waiting").hidden = this.$(".keys").hidden = true;
    showOtherPerson(this.root, unsaved ? count(unsaved, "unsaved decision") : "");
  }

  /** @override */
  keepInTouch() {
    if (!this.curation || this.closed) return;
    const { curation } = this;
    const soon = curation.candidate && !curation.passed && performance.now() - this.seenAt < PREVIEW_WAIT;
    if (this.seen !== curation.at) [this.seen, this.seenAt] = [curation.at, performance.now()];
    this.channel.keepInTouch(soon ? PREVIEW_POLL : REFRESH);
    this.#renderConnection();
  }

  // ---- input

  #key(event) {
    if (!this.coverage.handleKey(event) && !this.editor.handleKey(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  #listen() {
    this.listenToButtons(({ action, at, frame, text }) => {
      this.#do({ name: action, at: at === undefined ? undefined : +at, frame: +frame, text });
    });
    this.$(".draft select").addEventListener("change", ({ target }) => {
      this.#do({ name: "draft", text: target.value });
      this.$(".curate").focus({ preventScroll: true });
    }, { signal: this.abort.signal });
  }

  // Opened by keyboard, the filter lies on top, so that no scrolling is needed.
  #openCoverage() {
    this.$(".coverage-box").classList.add("open");
    this.coverage.focus();
  }

  #leaveCoverage() {
    this.$(".coverage-box").classList.remove("open");
    this.$(".curate").focus({ preventScroll: true });
  }

  #do(action) {
    this.viewer.ask(action);
  }

  #act(action, now) {
    const { curation } = this;
    if (!curation || this.closed) return;
    const { name } = action;
    if (name === "filter") return curation.blind || curation.editing || this.#openCoverage();
    if (name === "drafts") return this.$(".draft").hidden || this.$(".draft select").focus();
    if (curation.editing && name in FIELD_OF) return this.editor.focus(FIELD_OF[name]);
    const typed = curation.asking && this.deciding.words.trim();
    if (name === "words" && !curation.asking) return;
    if (curation.asking && (name === "words" || (name === "enter" && !typed))) return this.deciding.askForWords();
    const sending = curation.act(name === "enter" ? { name: "typed", text: typed || "" } : action, now);
    keep(this.store, SETTINGS_HERE, this.viewer.playback.settings);
    keep(this.store, this.#placeKey, curation.place);
    if (sending) this.#send(name);
  }

  // Sends decisions at once; combines several moves into one request.
  #send(name) {
    clearTimeout(this.asking);
    if (this.curation.editing) return this.#requestPreview();
    if (this.curation.outbox.size || name === "sight" || name === "list" || name === "draft") this.channel.flush();
    else this.asking = setTimeout(() => this.channel.flush(), DEBOUNCE);
  }

  // ---- display

  #render() {
    const { curation, viewer } = this;
    if (this.closed) return;
    const host = this.$(".curate");
    for (const [name, value] of [["candidate", curation.at ?? ""], ["list", curation.list?.number ?? ""]])
      if (host.dataset[name] !== String(value)) host.dataset[name] = String(value);
    viewer.soon = curation.soon;
    viewer.sight = curation.seen?.view ?? null;
    viewer.overlay = (curation.editing?.tried?.facts ?? curation.candidate)?.criterion ?? null;
    host.classList.toggle("edits", !!curation.editing);
    const { draft, total, candidate } = curation;
    this.$(".judging").hidden = !draft;
    this.$(".waiting").hidden = !draft || !!viewer.playback.view;
    this.$(".waiting p").textContent = candidate?.broken ? "This candidate cannot be displayed." : total ? "Loading ..." : NO_MATCH;
    this.deciding.render(curation, this.redraw);
    this.editor.render(curation.editing);
    this.deciding.renderSaid(viewer.playback.view);
    this.coverage.render(curation.coverage, curation.list);
    this.redraw = false;
    this.#renderConnection();
  }

  #renderEmpty() {
    const { title, text } = this.data.empty ?? {};
    this.$(".empty h2").textContent = title ?? "Loading ...";
    this.$(".empty p").textContent = text ?? this.channel.problem;
  }

  #renderConnection() {
    const { curation } = this;
    const { draft, rejections } = curation;
    const progress = draft ? `draft ${draft.name}, ${count(draft.candidates, "candidate")}` : "";
    this.$(".empty").hidden = !!draft || (!this.channel.begun && !this.channel.problem);
    if (!draft) this.#renderEmpty();
    this.renderStatus(curation, progress);
    this.renderNotes(rejections.map(({ message, said }) => `Not saved (${said}): ${message}.`));
  }
}

/** @type {Record<string, string>} */
const FIELD_OF = { words: "instruction", ghost: "tags", half: "player" };
const NO_MATCH = "No candidates match the filter.";

export default mounted("curate", (root) => new CuratePage(root));
