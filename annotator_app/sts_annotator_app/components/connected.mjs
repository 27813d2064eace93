// The base of the pages that send a person's decisions: markup, storage, buttons and active time.

import { closeConnectionDialogs, localStore, recall } from "./browser.mjs";
import { describeUnsaved } from "./outbox.mjs";
import { keepFocus } from "../../../sts/viewer/page.mjs";

const ACTIVE = ["keydown", "pointerdown", "pointermove", "wheel"]; // inputs that count as activity

export class ConnectedPage {
  /** @type {import("./channel.mjs").Channel | undefined} */ channel;
  /** @type {string | undefined} */ author;
  /** @type {any} */ session; // what the person works through, if the page measures active time
  /** @type {any} */ viewer; // set by each page
  /** @type {any} */ activity; // set by pages that measure active time

  /** @param {ShadowRoot} root */
  constructor(root) {
    this.root = root;
    this.store = localStore();
    this.abort = new AbortController();
    closeConnectionDialogs(this.abort.signal);
    this.timer = setInterval(() => this.keepInTouch(), 1000);
  }

  // Called every second.
  keepInTouch() {}

  /** @param {string} selector @returns {any} what the markup has there */
  $(selector) {
    return this.root.querySelector(selector);
  }

  /** @param {string} selector @param {string} text */
  write(selector, text) {
    const box = this.$(selector);
    if (box.textContent !== text) box.textContent = text;
  }

  destroy() {
    this.abort.abort();
    clearInterval(this.timer);
    this.viewer.destroy();
  }

  // The stored settings of playback; at first, it starts by itself unless the person prefers less motion.
  /** @param {string} key */
  settings(key) {
    return recall(this.store, key) ?? { autoplay: !matchMedia("(prefers-reduced-motion)").matches };
  }

  // Calls `press` with the data of each pressed button, except the Viewer's own, and keeps the focus.
  /** @param {(data: Record<string, string>) => void} press */
  listenToButtons(press) {
    const { signal } = this.abort;
    this.root.addEventListener("mousedown", keepFocus, { signal });
    this.root.addEventListener("click", ({ target }) => {
      const button = /** @type {HTMLElement} */ (target).closest("button[data-action]");
      if (button && !button.closest(".viewer")) press(/** @type {any} */ (button).dataset);
    }, { signal });
  }

  // Measures the time in which the person is active.
  listenToActivity() {
    const { signal } = this.abort;
    const touch = () => {
      this.spend();
      this.activity.touch(performance.now());
    };
    for (const type of ACTIVE) window.addEventListener(type, touch, { signal, capture: true, passive: true });
    document.addEventListener("visibilitychange", () => this.changeVisibility(), { signal });
  }

  // Adds the active time since the last call to the session.
  spend() {
    const spent = this.activity.spent(performance.now(), this.viewer.playback.playing);
    this.session?.spend(spent);
  }

  changeVisibility() {
    this.spend();
    this.activity.visible = !document.hidden;
    if (!document.hidden || !this.session) return;
    this.viewer.playback.stop();
    this.viewer.render();
  }

  // Shows a problem of the server or the connection, else the latest message, and what is unsaved.
  /** @param {{ outbox: import("./outbox.mjs").Outbox, message: { text: string, tone: string } }} session
   * @param {string | undefined} problem of the server @param {string} progress */
  renderStatus({ outbox, message }, problem, progress) {
    const unsaved = outbox.size;
    const lost = this.channel.lost && unsaved;
    const trouble = problem || (lost ? `Connection lost. You can continue. ${describeUnsaved(outbox, "decision")}` : "");
    this.write(".status", trouble || message.text);
    this.$(".status").className = `status ${trouble ? "warning" : message.tone}`;
    const saved = unsaved ? `${unsaved} unsaved` : "all saved";
    this.write(".progress", progress ? `${progress} · ${saved}` : saved);
    this.$(".progress").classList.toggle("unsaved", unsaved > 0);
  }

  /** @param {string[]} notes about rejected decisions and others */
  renderNotes(notes) {
    this.$(".rejections").hidden = !notes.length;
    this.write(".rejections", notes.length ? [...notes, "Press Esc to close this note."].join(" ") : "");
  }
}
