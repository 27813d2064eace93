// The page of one clip: the Viewer with the verdicts that the visitor may see. It is read-only.

import { drawings } from "./drawings.mjs";
import { decode } from "./episode.mjs";
import { PLAYBACK_KEYS } from "./keys.mjs";
import { element, keepFocus, mounted } from "./page.mjs";
import { legendRows, renderCriterion, renderInstruction, renderUtterances } from "./panel.mjs";
import { viewOf } from "./playback.mjs";
import { SIGNS, inWords } from "./verdicts.mjs";
import { Viewer } from "./viewer.mjs";

const GUIDELINE = { keys: ["h"], show: "H", action: "guideline" };
const WHOSE = { you: "You", known: "Reference", "known by a rule": "Reference (truth from a rule)", rule: "Automatic label" };

/** @typedef {{ by: string, kind: string, verdict: string, step: number | null, reason: string }} Said */

// Clips side by side in one window are played in step.
/** @type {Set<ClipPage>} */
const together = (window.stsClips ??= new Set());

class ClipPage {
  guideline = false;

  /** @param {ShadowRoot} root */
  constructor(root) {
    this.root = root;
    this.abort = new AbortController();
    this.viewer = new Viewer(this.$(".stage"), {
      drawings,
      settings: { autoplay: false },
      rows: [...PLAYBACK_KEYS, GUIDELINE],
      act: (action, now) => this.#act(action, now),
      rendered: () => this.episode && this.#render(),
    });
    const { signal } = this.abort;
    together.add(this);
    root.addEventListener("mousedown", keepFocus, { signal });
    root.addEventListener("click", (event) => this.#click(event.target), { signal });
  }

  /** @param {string} selector @returns {any} what the markup has there */
  $(selector) {
    return this.root.querySelector(selector);
  }

  destroy() {
    together.delete(this);
    this.abort.abort();
    this.viewer.destroy();
  }

  // A single clip opens at its first marker; clips `beside` each other open at the takeover. Without
  // `marks` there is no list of verdicts.
  /** @param {{ data: { episode: Payload, marks: Said[] | null, beside?: boolean } }} component */
  update({ data }) {
    const { episode, marks, beside = false } = data;
    this.marks = marks;
    if (this.episode?.id !== episode.id || this.besides !== beside) {
      this.besides = beside;
      this.$(".clip").classList.toggle("half", beside);
      this.episode = decode(episode);
      const { takeover } = this.episode;
      this.viewer.flags = flagsAt(marks ?? [], takeover);
      this.viewer.overlay = this.episode.criterion ?? null;
      this.viewer.open(viewOf(this.episode, beside ? takeover : this.viewer.flags[0]?.frame ?? takeover));
    }
    this.#list();
    this.viewer.render();
    // Not while a control of the page around is used.
    if (document.activeElement === document.body) this.$(".clip").focus({ preventScroll: true });
  }

  #act(action, now) {
    if (action.name === "guideline") this.guideline = !this.guideline;
    else this.viewer.playback.act(action, now);
    for (const other of together) if (other !== this) other.follow(action, now);
  }

  // Repeats an action of the other clip.
  /** @param {Action} action @param {number} now */
  follow(action, now) {
    if (action.name !== "guideline") this.viewer.playback.act(action, now);
    this.viewer.render();
  }

  #click(target) {
    const { action, frame } = target.closest("button[data-action]:not(.viewer *)")?.dataset ?? {};
    if (action) this.viewer.ask({ name: action, frame: +frame });
  }

  #list() {
    const { episode, marks } = this;
    this.$(".legend").replaceChildren(
      ...legendRows(episode, "evaluated player", (one, object) => this.viewer.board.symbol(one, object)),
    );
    this.$(".marks").hidden = marks === null;
    const rows = (marks ?? []).map((mark) => markRow(mark, episode.takeover));
    const none = element("li", { className: "none", textContent: "No verdicts yet." });
    this.$(".marks ul").replaceChildren(...(rows.length ? rows : [none]));
    this.$(".judging").hidden = false;
  }

  #render() {
    const { episode } = this;
    const { frame } = this.viewer.playback;
    renderInstruction(this.$(".instruction"), episode, frame, `No instruction yet: ${episode.instruction.text}`);
    renderCriterion(this.$(".criterion"), episode.criterion, this.guideline, frame < episode.instruction.given_at);
    renderUtterances(this.$(".utterances"), episode, frame);
  }
}

// One flag for each marked step, with the signs of its markers.
/** @param {Said[]} marks @param {number} takeover */
function flagsAt(marks, takeover) {
  const steps = new Map();
  for (const one of marks) if (one.step) steps.set(one.step, [...(steps.get(one.step) ?? []), one]);
  return [...steps].sort(([a], [b]) => a - b).map(([step, here]) => ({
    frame: takeover + step,
    sign: [...new Set(here.map((one) => (one.kind === "reference" ? "★" : SIGNS[one.verdict])))].join(""),
    text: here.map((one) => `${WHOSE[one.by] ?? one.by}: ${one.verdict}`).join(", "),
  }));
}

/** @param {Said} mark @param {number} takeover */
function markRow(mark, takeover) {
  const { by, kind, step, reason } = mark;
  const button = element("button", { type: "button", disabled: !step });
  Object.assign(button.dataset, { action: "seek", frame: takeover + (step ?? 0) });
  const whose = kind === "adjudication" ? `Adjudicated by ${by}` : (WHOSE[by] ?? by);
  button.append(element("span", { className: "by", textContent: whose }), inWords(mark), reason ? ` (${reason})` : "");
  const row = element("li");
  row.append(button);
  return row;
}

export const clipPage = mounted("clipPage", (root) => new ClipPage(root));
export default clipPage;
