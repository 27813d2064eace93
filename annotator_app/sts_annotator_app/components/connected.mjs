// The base of the pages that send a person's decisions: markup, storage, buttons and active time.

import { closeConnectionDialogs, localStore, ownerOf, recall } from "./browser.mjs";
import { Channel } from "./channel.mjs";
import { describeUnsaved } from "./outbox.mjs";
import { keepFocus } from "../../../sts/viewer/page.mjs";

const ACTIVE = ["keydown", "pointerdown", "pointermove", "wheel"]; // inputs that count as activity

export class ConnectedPage {
  /** @type {Channel | undefined} */ channel;
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

  // Called on mount, and when the person or the theme changes.
  open() {}

  // Called when another person signed in on this browser. It stops sending, since messages would count
  // as theirs.
  close() {}

  // Handles data of the server.
  /** @param {any} _data @param {boolean} _first */
  receive(_data, _first) {}

  // Streamlit calls this on mount and when `data` or the theme changes.
  /** @param {{ data: { author: string, address: string },
   *   setStateValue: (name: string, value: number) => void }} component */
  update({ data: { author, address }, setStateValue }) {
    this.author ??= ownerOf(author);
    this.address = location.origin + address + location.search;
    this.runAgain = () => setStateValue("refused", performance.now());
    this.#check(author, () => this.open());
  }

  // Opens the channel, which requests the page's first data.
  /** @param {import("./outbox.mjs").Outbox} outbox @param {() => object} more */
  connect(outbox, more) {
    const { author, address } = this;
    const receive = (data, first) => this.#check(data.author, () => this.receive(data, first));
    this.channel = new Channel({ outbox, author, address, more, receive, refused: () => this.runAgain() });
    this.channel.flush();
  }

  /** @param {string} author @param {() => void} act */
  #check(author, act) {
    if (this.author !== author) return this.close();
    this.closed = false;
    act();
  }

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
    this.channel?.end();
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
   * @param {string} progress */
  renderStatus({ outbox, message }, progress) {
    const unsaved = outbox.size;
    const lost = this.channel.lost && unsaved;
    const trouble = this.channel.trouble || (lost ? `Connection lost. You can continue. ${describeUnsaved(outbox, "decision")}` : "");
    this.write(".status", trouble || message.text);
    this.$(".status").className = `status ${trouble ? "warning" : message.tone}`;
    const saved = unsaved ? `${unsaved} unsaved` : "all saved";
    this.write(".progress", progress ? `${progress} · ${saved}` : saved);
    this.$(".progress").classList.toggle("unsaved", unsaved > 0);
  }

  /** @param {string[]} notes about rejected decisions and others */
  renderNotes(notes) {
    this.$(".rejections").hidden = !notes.length;
    this.write(".rejections span", notes.join(" "));
  }
}
