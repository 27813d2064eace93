// Panel of a clip under review: the verdicts of its annotators, who are letters, its automatic label,
// the error types, and the progress of each queue.

import { element } from "../../../sts/viewer/page.mjs";
import { QUEUES } from "./reviewing.mjs";
import { SIGNS, inWords } from "../../../sts/viewer/verdicts.mjs";

/** @type {Record<string, string>} */
const TITLES = { disputes: "Disagreements", failures: "Failures", differences: "Automatic label" };
/** @type {Record<string, string>} */
const ABOUT = {
  outcome: "Annotators disagree on whether it was completed.",
  verdict: "Annotators gave different verdicts.",
  mark: "Annotators agree on the verdict but not on its step.",
};
/** @type {Record<string, string>} */
const SOURCE = { player: "Player", annotator: "Annotator", none: "Neither" };

// Flags on the timeline: one for each marked step, with the letters of its annotators.
/** @param {Review} visit */
export function flagsOf({ episode, said, ruled, mark }) {
  const marks = said.map((one) => ({ ...one, by: one.by }));
  if (ruled) marks.push({ by: "label ", verdict: ruled[0], step: ruled[1], reason: "" });
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

export class VerdictPanel {
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
    words.querySelector("span").textContent = session.leaving ? "Reason for skipping" : "Comment";
    if (field !== this.root.activeElement) field.value = visit.words;
    const { mark, errorType } = visit;
    const ready = session.leaving || (session.classifies ? errorType : mark && (mark.verdict !== "cannot_judge" || mark.reason));
    this.$(".submit").disabled = !ready;
    this.$(".submit").firstChild.textContent = session.leaving ? "Skip" : session.classifies ? "Save" : "Decide";
    const leave = this.$('[data-action="leave"]');
    leave.firstChild.textContent = session.leaving ? "Cancel" : "Skip";
    leave.setAttribute("aria-pressed", session.leaving);
    this.$('[data-action="undo"]').disabled = !mark && !errorType;
    this.$('[data-action="previous"]').disabled = !session.history.some(({ queue }) => queue === session.queue);
    const banner = this.$(".banner");
    const text = visit.corrects ? "You decided this clip before." : session.meanwhile;
    banner.hidden = !text;
    const [said, cancel] = banner.children;
    if (said.textContent !== text) said.textContent = text;
    cancel.hidden = !visit.corrects;
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
    const box = this.$(".annotator-verdicts");
    const { said, ruled, remarks, about, episode } = visit;
    const key = JSON.stringify([episode.id, said, ruled, remarks]);
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    const rows = said.map((one) => verdictRow(one.by, one, episode));
    if (ruled) rows.push(verdictRow("Automatic label", { verdict: ruled[0], step: ruled[1], reason: "" }, episode));
    box.querySelector("ol").replaceChildren(...rows);
    this.$(".about").textContent = ruled ? "The annotators' verdict differs from the automatic label." : ABOUT[about] ?? "";
    const notes = this.$(".remarks");
    notes.hidden = !remarks.length;
    notes.replaceChildren(...remarks.map((text) => element("li", { textContent: `Skipped by a reviewer: ${text}` })));
  }

  /** @param {import("./reviewing.mjs").Reviewing} session */
  #renderErrors({ classifies, errors, visit }) {
    const box = this.$(".errors");
    box.hidden = !classifies;
    if (!classifies) return;
    if (box.children.length !== errors.length) box.replaceChildren(...errors.map(errorRow));
    for (const button of box.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(button.dataset.text === visit.errorType));
  }
}

// A verdict, as a button that seeks to its marker.
function verdictRow(by, { verdict, step, reason }, episode) {
  const row = element("li");
  const button = element("button", { type: "button", disabled: !step });
  Object.assign(button.dataset, { action: "seek", frame: episode.takeover + (step ?? 0) });
  const words = inWords({ verdict, step }) + (reason ? `: ${reason}` : "");
  const sign = element("span", { className: "sign", textContent: SIGNS[verdict] ?? { not_done: "○" }[verdict] ?? "?" });
  row.dataset.action = verdict; // the colour of the verdict's button
  button.append(element("b", { textContent: by }), sign, element("span", { textContent: words }));
  row.append(button);
  return row;
}

function errorRow([name, source, meaning], n) {
  const button = element("button", { type: "button" });
  Object.assign(button.dataset, { action: "error_type", text: name });
  const words = element("span");
  const means = element("span", { className: "meaning", textContent: ` ${SOURCE[source]}: ${meaning}` });
  words.append(element("b", { textContent: name.replaceAll("_", " ") }), means);
  button.append(element("kbd", { textContent: n + 1 }), words);
  return button;
}
