// Notices of the judging page: saved and unsaved answers, rejected answers, and empty states.

import { count } from "../../../sts/viewer/episode.mjs";
import { describeUnsaved } from "./outbox.mjs";
import { describePace } from "./pace.mjs";
import { describeWayOut } from "./session.mjs";

/** @typedef {{ session: import("./session.mjs").Session, lost: boolean, broken: boolean,
 *   trouble?: string, empty: { title: string, text: string, link?: string } }} State */

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
    const trouble =
      state.trouble ||
      (lost && unsaved ? `Connection lost. You can continue. ${describeUnsaved(session.outbox, "answer")}` : "") ||
      (broken ? `This episode cannot be displayed. ${describeWayOut()}` : "");
    const status = this.$(".status");
    write(status, trouble || session.message.text);
    status.className = `status ${trouble ? "warning" : session.message.tone}`;
    this.#renderProgress(session, unsaved);
    this.#renderRejections(session);
    if (!session.visit) this.#renderEmpty(state, unsaved);
  }

  // Displays a notice instead of an episode.
  /** @param {string} title @param {string} text @param {string} link an address to go to, or "" */
  showInstead(title, text, link = "") {
    this.$(".empty").hidden = false;
    const completion = this.$(".empty a");
    completion.hidden = !link;
    this.$(".empty button").hidden = true;
    if (link) completion.href = link;
    write(this.$(".empty h2"), title);
    write(this.$(".empty p"), text);
  }

  /** @param {import("./session.mjs").Session} session @param {number} unsaved */
  #renderProgress({ counts, queue }, unsaved) {
    const done = counts ? `${[`${counts.done} annotated by you`, ...describePace(counts)].join(" · ")} · ` : "";
    const missing = counts?.broken ?? 0;
    const blank = missing ? ` · ${count(missing, "episode")} cannot be displayed; please tell the study lead` : "";
    const progress = this.$(".progress");
    write(progress, `${done}${queue.length} queued · ${unsaved ? `${unsaved} unsaved` : "all saved"}${blank}`);
    progress.classList.toggle("unsaved", unsaved > 0);
  }

  /** @param {import("./session.mjs").Session} session */
  #renderRejections({ rejections }) {
    const box = this.$(".rejections");
    box.hidden = !rejections.length;
    const notes = rejections.map(({ message, text }) => `Not accepted: ${message}${text ? ` (“${text}”)` : ""}.`);
    write(box.querySelector("span"), notes.join(" "));
  }

  /** @param {State} state @param {number} unsaved */
  #renderEmpty({ session, lost, empty }, unsaved) {
    const title = lost ? "Connection lost" : "Saving";
    /** @type {State["empty"]} */
    const notice = unsaved ? { title, text: describeUnsaved(session.outbox, "answer") } : empty;
    this.showInstead(notice.title, notice.text, notice.link);
    this.$(".empty button").hidden = !session.history.length || !!notice.link;
  }
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
