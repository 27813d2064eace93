// Parts of the panels next to the Viewer: legend, criterion, reasons, transcript and shortcuts.

import { instructionAt } from "./episode.mjs";
import { element } from "./page.mjs";

// Rows of the legend: symbol and name of each object; evaluated players are marked as `called`.
/** @param {Episode} episode @param {string} called
 * @param {(episode: Episode, object: number) => Element} symbol */
export function legendRows(episode, called, symbol) {
  return episode.names.map((name, object) => {
    const judged = episode.judged.includes(object);
    const label = element("span", { textContent: judged ? `${name}: ${called}` : name });
    const row = element("li", { className: judged ? "judged" : "" });
    row.append(symbol(episode, object), label);
    return row;
  });
}

// Renders the latest instruction given by a frame, or `none` before the first, in the room of the longest.
/** @param {any} box @param {Episode} episode @param {number} frame @param {string} none */
export function renderInstruction(box, episode, frame, none) {
  const text = instructionAt(episode, frame);
  box.firstElementChild.textContent = text ?? none;
  box.classList.toggle("none", text === null);
  box.lang = episode.criterion?.language ?? "";
  box.dataset.longest = episode.instructions.reduce((longest, one) => (one.text.length > longest.length ? one.text : longest), "");
}

// Renders the success criterion and, if `open`, the edge cases; nothing if both are withheld. While
// it is `early`, before the instruction, they take their room unseen: what is below keeps its place.
/** @param {any} box @param {Criterion | null | undefined} criterion @param {boolean} open @param {boolean} early */
export function renderCriterion(box, criterion, open, early = false) {
  const { done = "", guideline = "", language = "" } = criterion ?? {};
  box.hidden = !done && !guideline;
  box.classList.toggle("early", early);
  box.classList.toggle("open", open);
  const opener = box.querySelector("button");
  opener.hidden = !guideline;
  opener.setAttribute("aria-expanded", String(open));
  for (const [selector, text] of [[".done", done], [".guideline", guideline]]) {
    const part = box.querySelector(selector);
    if (part.textContent !== text) part.textContent = text;
    part.lang = language;
  }
  box.querySelector(".guideline").hidden = !open || !guideline;
}

// Numbered buttons for the reasons, and a field for another reason of at most `most` characters;
// `write` is called with its text at each change.
/** @param {string[]} reasons @param {number} most @param {(text: string) => void} write */
export function reasonRows(reasons, most, write, other = reasons.length + 1) {
  const key = (n) => element("kbd", { textContent: n });
  const rows = reasons.map((text, n) => {
    const button = element("button", { type: "button" });
    Object.assign(button.dataset, { action: "reason", at: n });
    button.append(key(n + 1), text);
    return button;
  });
  const label = element("label");
  const field = element("input", { type: "text", maxLength: most, placeholder: "Other reason" });
  field.setAttribute("aria-label", "Other reason");
  field.addEventListener("input", () => write(field.value));
  label.append(key(other), field);
  return [...rows, label];
}

// Renders the transcript up to a frame; each utterance has a button that seeks to it.
/** @param {any} box @param {Episode} episode @param {number} frame */
export function renderUtterances(box, episode, frame) {
  const list = box.querySelector("ol");
  const heard = episode.utterances.filter((u) => u.frame <= frame);
  box.hidden = !heard.length;
  if (list.children.length !== heard.length) {
    list.replaceChildren(...heard.map((u) => utteranceRow(episode, u)));
    list.scrollTop = list.scrollHeight;
  }
  heard.forEach((u, i) => list.children[i].classList.toggle("now", u.frame === frame));
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

// Rows of the shortcuts, from those with a help text.
/** @param {KeyRow[]} rows */
export function keyRows(rows) {
  return rows.filter(({ help }) => help).map(({ show, help }) => {
    const row = element("div");
    const term = element("dt");
    term.append(element("kbd", { textContent: show }));
    row.append(term, element("dd", { textContent: help }));
    return row;
  });
}
