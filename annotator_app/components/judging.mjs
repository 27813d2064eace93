// The panel beside the Viewer: the instruction, who is who, the verdicts and what was said.

import { count, instructionAt } from "./episode.mjs";
import { PLAYBACK_KEYS } from "./keys.mjs";
import { element } from "./page.mjs";
import { REASONS } from "./session.mjs";

/** @type {KeyRow[]} */
export const JUDGING_KEYS = [
  { keys: ["s"], show: "S", action: "success", help: "success, at this step" },
  { keys: ["f"], show: "F", action: "failure", help: "failure, at this step" },
  { keys: ["n"], show: "N", action: "not_done", help: "not done by the end" },
  { keys: ["x"], show: "X", action: "cannot_judge", help: "cannot judge (then 1 to 4: why)" },
  { keys: ["1", "2", "3", "4"], action: "reason" },
  { keys: ["u"], show: "U", action: "undo", help: "take the mark away" },
  { keys: ["Enter"], show: "Enter", action: "submit", help: "submit and go on" },
  { keys: ["b"], show: "B", action: "previous", help: "back to the one before, to correct it" },
  { keys: ["Escape"], show: "Esc", action: "cancel", help: "leave a correction, a reason or this help" },
  { keys: ["?"], show: "?", action: "help", help: "show or hide these keys" },
];

export class Judging {
  // `ask` is told of what is done here; `symbol` gives the symbol of an episode's object.
  /** @param {ShadowRoot} root
   * @param {{ ask: (action: Action) => void,
   *   symbol: (episode: Episode, object: number) => Element }} how */
  constructor(root, { ask, symbol }) {
    this.root = root;
    this.ask = ask;
    this.symbol = symbol;
    this.#writeKeys();
  }

  /** @param {string} selector @returns {any} what the markup has there */
  $(selector) {
    return this.root.querySelector(selector);
  }

  // The episode is listed anew when it is another, or when the colours of the page have changed.
  /** @param {import("./session.mjs").Session} session @param {boolean} anew */
  render(session, anew) {
    const { visit } = session;
    this.$(".keys").hidden = !session.help;
    this.$('[data-action="help"]').setAttribute("aria-expanded", session.help);
    this.$(".judging").hidden = !visit;
    if (!visit) return;
    const { episode, frame, mark } = visit;
    if (anew || this.listed !== episode) this.#renderLegend(episode);
    this.listed = episode;
    this.#renderInstruction(episode, frame);
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll(".verdicts button")))
      button.setAttribute("aria-pressed", String(mark?.verdict === button.dataset.action));
    this.$(".submit").disabled = !mark || (mark.verdict === "cannot_judge" && !mark.reason);
    this.$(".submit").firstChild.textContent = visit.corrects ? "Submit correction" : "Submit";
    this.$('[data-action="undo"]').disabled = !mark;
    this.$('[data-action="previous"]').disabled = !session.history.length;
    const banner = this.$(".banner");
    banner.hidden = !visit.corrects;
    banner.textContent = "Correcting an earlier answer. Esc leaves it as it was.";
    this.#renderReasons(mark, session.reasons);
    this.#renderUtterances(episode, frame);
  }

  askForWords() {
    this.$(".reasons input")?.focus();
  }

  #renderInstruction(episode, frame) {
    const text = instructionAt(episode, frame);
    const instruction = this.$(".instruction");
    const wait = episode.instructions[0].given_at - frame;
    instruction.textContent = text ?? `No instruction yet; it comes in ${count(wait, "step")}`;
    instruction.classList.toggle("none", text === null);
  }

  #renderLegend(episode) {
    this.$(".legend").replaceChildren(...episode.names.map((name, object) => {
      const judged = episode.judged.includes(object);
      const label = element("span", { textContent: judged ? `${name}: judged` : name });
      const row = element("li", { className: judged ? "judged" : "" });
      row.append(this.symbol(episode, object), label);
      return row;
    }));
    this.$(".utterances ol").replaceChildren();
  }

  #renderReasons(mark, asked) {
    const box = this.$(".reasons");
    box.hidden = !asked;
    if (box.hidden) return box.replaceChildren();
    if (!box.children.length) box.replaceChildren(...this.#reasonRows());
    for (const button of box.querySelectorAll("button"))
      button.setAttribute("aria-pressed", mark.reason === REASONS[button.dataset.at]);
    const field = box.querySelector("input");
    if (mark.reason === null || REASONS.includes(mark.reason)) field.value = "";
    else if (field !== this.root.activeElement) field.value = mark.reason;
  }

  #reasonRows() {
    const key = (n) => element("kbd", { textContent: n + 1 });
    const rows = REASONS.map((text, n) => {
      const button = element("button", { type: "button" });
      Object.assign(button.dataset, { action: "reason", at: n });
      button.append(key(n), text);
      return button;
    });
    const other = element("label");
    const field = element("input", { type: "text", maxLength: 300, placeholder: "another reason" });
    field.setAttribute("aria-label", "another reason");
    field.addEventListener("input", () => this.ask({ name: "reason", text: field.value }));
    other.append(key(REASONS.length), field);
    return [...rows, other];
  }

  #renderUtterances(episode, frame) {
    const list = this.$(".utterances ol");
    const heard = episode.utterances.filter((u) => u.frame <= frame);
    this.$(".utterances").hidden = !heard.length;
    if (list.children.length !== heard.length) {
      list.replaceChildren(...heard.map((u) => utteranceRow(episode, u)));
      list.scrollTop = list.scrollHeight;
    }
    heard.forEach((u, i) => list.children[i].classList.toggle("now", u.frame === frame));
  }

  #writeKeys() {
    const rows = [...PLAYBACK_KEYS, ...JUDGING_KEYS].filter(({ help }) => help);
    this.$(".keys dl").replaceChildren(...rows.map(({ show, help }) => {
      const row = element("div");
      const term = element("dt");
      term.append(element("kbd", { textContent: show }));
      row.append(term, element("dd", { textContent: help }));
      return row;
    }));
  }
}

function utteranceRow(episode, { frame, object, text }) {
  const button = element("button", { type: "button", title: "Go to this step" });
  Object.assign(button.dataset, { action: "seek", frame });
  const after = frame - episode.takeover;
  button.append(element("span", { className: "at", textContent: after > 0 ? `step ${after}` : "context" }));
  button.append(`${episode.names[object]}: ${text}`);
  const row = element("li");
  row.append(button);
  return row;
}
