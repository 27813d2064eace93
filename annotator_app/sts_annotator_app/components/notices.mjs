// What the page of those who judge says of itself: what is saved and what waits, what was refused, and
// what to do where there is no episode.

import { count } from "../../../sts/viewer/episode.mjs";
import { paceOf } from "./pace.mjs";

/** @typedef {{ session: import("./session.mjs").Session, lost: boolean, broken: boolean,
 *   trouble?: string, empty: { title: string, text: string } }} State */

export class Notices {
  /** @param {ShadowRoot} root */
  constructor(root) {
    this.root = root;
  }

  /** @param {string} selector @returns {any} what the markup has there */
  $(selector) {
    return this.root.querySelector(selector);
  }

  /** @param {State} state */
  render(state) {
    const { session, lost, broken } = state;
    const unsaved = session.outbox.size;
    const kept = session.outbox.volatile ? "this browser keeps nothing: leave the page open" : "kept in this browser";
    const waits = `${unsaved} unsaved, ${kept}; will be sent when the connection returns`;
    const trouble =
      state.trouble ||
      (lost && unsaved ? `Connection lost. ${waits}. Go on meanwhile.` : "") ||
      (broken ? "The pictures of this episode cannot be shown: X, a reason, Enter goes on." : "");
    const status = this.$(".status");
    write(status, trouble || session.message.text);
    status.className = `status ${trouble ? "warning" : session.message.tone}`;
    this.#renderProgress(session, unsaved);
    this.#renderRefused(session);
    if (!session.visit) this.#renderEmpty(state, unsaved);
  }

  // Says in the place of an episode why there is none.
  /** @param {string} title @param {string} text */
  instead(title, text) {
    this.$(".empty").hidden = false;
    write(this.$(".empty h2"), title);
    write(this.$(".empty p"), text);
  }

  /** @param {import("./session.mjs").Session} session @param {number} unsaved */
  #renderProgress({ counts, queue }, unsaved) {
    const done = counts ? `${[`${counts.done} judged by you`, ...paceOf(counts)].join(" · ")} · ` : "";
    const missing = counts?.broken ?? 0;
    const blank = missing ? ` · ${count(missing, "episode")} cannot be shown; tell whoever runs this study` : "";
    const progress = this.$(".progress");
    write(progress, `${done}${queue.length} ready to follow · ${unsaved ? `${unsaved} unsaved` : "all saved"}${blank}`);
    progress.classList.toggle("unsaved", unsaved > 0);
  }

  /** @param {import("./session.mjs").Session} session */
  #renderRefused({ refused }) {
    const box = this.$(".refused");
    box.hidden = !refused.length;
    const notes = refused.map(({ message, text }) => `Not accepted: ${message}${text ? ` (“${text}”)` : ""}.`);
    if (notes.length) notes.push("Esc closes this note.");
    write(box, notes.join(" "));
  }

  /** @param {State} state @param {number} unsaved */
  #renderEmpty({ session, lost, empty }, unsaved) {
    const title = lost ? "Connection lost" : "Saving";
    const text = `${unsaved} unsaved, kept in this browser; will be sent when the connection returns.`;
    const said = unsaved ? { title, text } : empty;
    this.instead(said.title, said.text + (session.history.length ? " B goes back to your last answer." : ""));
  }
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
