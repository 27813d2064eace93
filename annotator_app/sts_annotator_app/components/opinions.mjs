// What is shown of a clip under review: what its judges say of it, who are letters, what the rule says, the kinds of
// error, and how far each queue is.

import { element } from "../../../sts/viewer/page.mjs";
import { QUEUES } from "./reviewing.mjs";
import { SIGNS, inWords } from "../../../sts/viewer/verdicts.mjs";

/** @type {Record<string, string>} */
const TITLES = { disputes: "Disagreements", failures: "Failures", differences: "People and rule" };
/** @type {Record<string, string>} */
const ABOUT = {
  outcome: "They disagree on whether it was done.",
  verdict: "They say different things of it.",
  mark: "They agree on what happened, and not on when.",
};
/** @type {Record<string, string>} */
const SOURCE = { player: "Who played", annotator: "Who judged", none: "Neither" };

// What stands on the timeline: each mark once, with the letters of whose it is.
/** @param {Review} visit */
export function flagsOf({ episode, said, ruled, mark }) {
  const marks = said.map((one) => ({ ...one, by: one.by }));
  if (ruled) marks.push({ by: "rule ", verdict: ruled[0], step: ruled[1], reason: "" });
  if (mark) marks.push({ by: "you ", verdict: mark.verdict, step: mark.step, reason: "" });
  /** @type {Map<number, { frame: number, sign: string, text: string }>} */
  const flags = new Map();
  for (const { by, verdict, step } of marks) {
    if (!step) continue;
    const before = flags.get(step);
    const sign = `${by}${SIGNS[verdict]}`;
    const text = `${by.trim()}: ${verdict}`;
    const frame = episode.takeover + step;
    flags.set(step, before ? { frame, sign: `${before.sign} ${sign}`, text: `${before.text}, ${text}` } : { frame, sign, text });
  }
  return [...flags.values()];
}

export class Opinions {
  /** @param {ShadowRoot} root */
  constructor(root) {
    this.root = root;
  }

  /** @param {string} selector @returns {any} what the markup has there */
  $(selector) {
    return this.root.querySelector(selector);
  }

  /** @param {import("./reviewing.mjs").Reviewing} session */
  render(session) {
    const { visit } = session;
    this.#renderQueues(session);
    if (!visit) return;
    this.#renderSaid(visit);
    this.$(".verdicts").hidden = session.classifies;
    this.#renderErrors(session);
    const words = this.$(".words");
    const field = words.querySelector("input");
    words.classList.toggle("asked", session.leaving);
    words.querySelector("span").textContent = session.leaving ? "Why it is left open" : "In words";
    if (field !== this.root.activeElement) field.value = visit.words;
    const { mark, label } = visit;
    const ready = session.leaving || (session.classifies ? label : mark && (mark.verdict !== "cannot_judge" || mark.reason));
    this.$(".submit").disabled = !ready;
    this.$(".submit").firstChild.textContent = session.leaving ? "Leave open" : session.classifies ? "Keep" : "Decide";
    this.$('[data-action="leave"]').setAttribute("aria-pressed", session.leaving);
    this.$('[data-action="undo"]').disabled = !mark && !label;
    this.$('[data-action="previous"]').disabled = !session.history.some(({ queue }) => queue === session.queue);
    const banner = this.$(".banner");
    const text = visit.corrects ? "You decided this one before. Esc leaves it as it was." : session.meanwhile;
    banner.hidden = !text;
    if (banner.textContent !== text) banner.textContent = text;
  }

  askForWords() {
    this.$(".words input").focus();
  }

  /** @param {import("./reviewing.mjs").Reviewing} session */
  #renderQueues({ queue, queues, outbox }) {
    const box = this.$(".queues");
    const key = JSON.stringify([queue, queues, outbox.size]);
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    box.replaceChildren(...QUEUES.map((name) => {
      const button = element("button", { type: "button", textContent: TITLES[name] });
      Object.assign(button.dataset, { action: "queue", text: name });
      button.setAttribute("role", "tab");
      button.setAttribute("aria-selected", String(name === queue));
      if (queues) button.append(element("span", { className: "count", textContent: String(queues[name].waiting) }));
      return button;
    }));
  }

  /** @param {Review} visit */
  #renderSaid(visit) {
    const box = this.$(".opinions");
    const { said, ruled, remarks, about, episode } = visit;
    const key = JSON.stringify([episode.id, said, ruled, remarks]);
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    const rows = said.map((one) => opinionRow(one.by, one, episode));
    if (ruled) rows.push(opinionRow("Rule", { verdict: ruled[0], step: ruled[1], reason: "" }, episode));
    box.querySelector("ol").replaceChildren(...rows);
    this.$(".about").textContent = ruled ? "People say something else than the rule of the category." : ABOUT[about] ?? "";
    const notes = this.$(".remarks");
    notes.hidden = !remarks.length;
    notes.replaceChildren(...remarks.map((text) => element("li", { textContent: `Left open by a reviewer: ${text}` })));
  }

  /** @param {import("./reviewing.mjs").Reviewing} session */
  #renderErrors({ classifies, errors, visit }) {
    const box = this.$(".errors");
    box.hidden = !classifies;
    if (!classifies) return;
    if (box.children.length !== errors.length) box.replaceChildren(...errors.map(errorRow));
    for (const button of box.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(button.dataset.text === visit.label));
  }
}

// What one of them says, with a button that leads to the mark.
function opinionRow(by, { verdict, step, reason }, episode) {
  const row = element("li");
  const button = element("button", { type: "button", disabled: !step });
  Object.assign(button.dataset, { action: "seek", frame: episode.takeover + (step ?? 0) });
  const words = inWords({ verdict, step }) + (reason ? `: ${reason}` : "");
  const sign = element("span", { className: "sign", textContent: SIGNS[verdict] ?? { not_done: "○" }[verdict] ?? "?" });
  row.dataset.action = verdict; // coloured as the button of the verdict is
  button.append(element("b", { textContent: by }), sign, element("span", { textContent: words }));
  row.append(button);
  return row;
}

function errorRow([label, source, meaning], n) {
  const button = element("button", { type: "button" });
  Object.assign(button.dataset, { action: "label", text: label });
  const words = element("span");
  const means = element("span", { className: "meaning", textContent: ` ${SOURCE[source]}: ${meaning}` });
  words.append(element("b", { textContent: label.replaceAll("_", " ") }), means);
  button.append(element("kbd", { textContent: n + 1 }), words);
  return button;
}
