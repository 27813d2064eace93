// The panel next to the Viewer: instruction, legend, verdicts and transcript.

import { count } from "../../../sts/viewer/episode.mjs";
import { PLAYBACK_KEYS } from "../../../sts/viewer/keys.mjs";
import { keyRows, legendRows, reasonRows, renderCriterion, renderInstruction, renderUtterances } from "../../../sts/viewer/panel.mjs";
import { REASONS } from "../../../sts/viewer/verdicts.mjs";

const MOST_WORDS = 300; // characters of a typed reason

/** @type {KeyRow[]} */
export const JUDGING_KEYS = [
  { keys: ["s"], show: "S", action: "success", help: "success at this step" },
  { keys: ["f"], show: "F", action: "failure", help: "failure at this step" },
  { keys: ["n"], show: "N", action: "not_done", help: "not completed by the end" },
  { keys: ["x"], show: "X", action: "cannot_judge", help: "can't judge (then 1 to 4 for the reason)" },
  { keys: ["1", "2", "3", "4"], action: "reason" },
  { keys: ["h"], show: "H", action: "guideline", help: "show or hide edge cases" },
  { keys: ["u"], show: "U", action: "undo", help: "remove the marker" },
  { keys: ["Enter"], show: "Enter", action: "submit", help: "submit and continue" },
  { keys: ["b"], show: "B", action: "previous", help: "go back to the previous answer to correct it" },
  { keys: ["Escape"], show: "Esc", action: "cancel", help: "cancel a correction or a reason, or close this list" },
  { keys: ["?"], show: "?", action: "help", help: "show or hide this list" },
];

export class Judging {
  // `ask` receives the actions of this panel; `symbol` returns the symbol of an episode's object.
  /** @param {ShadowRoot} root
   * @param {{ ask: (action: Action) => void,
   *   symbol: (episode: Episode, object: number) => Element }} how */
  constructor(root, { ask, symbol }) {
    this.root = root;
    this.ask = ask;
    this.symbol = symbol;
    this.$(".keys dl").replaceChildren(...keyRows([...PLAYBACK_KEYS, ...JUDGING_KEYS]));
  }

  /** @param {string} selector @returns {any} what the markup has there */
  $(selector) {
    return this.root.querySelector(selector);
  }

  /** @param {import("./session.mjs").Session} session @param {boolean} redraw */
  render(session, redraw) {
    this.renderShown(session, redraw);
    const { visit } = session;
    if (!visit) return;
    const { episode, mark } = visit;
    this.$(".submit").disabled = !mark || (mark.verdict === "cannot_judge" && !mark.reason);
    this.$(".submit").firstChild.textContent = visit.answer ? "Continue" : visit.corrects ? "Submit correction" : "Submit";
    this.$('[data-action="undo"]').disabled = !mark;
    this.$('[data-action="previous"]').disabled = !session.history.length;
    const banner = this.$(".banner");
    banner.hidden = !visit.corrects && !episode.training;
    banner.querySelector("span").textContent = visit.corrects ? "Correcting an earlier answer." : inTraining(session.training);
    banner.querySelector("button").hidden = !visit.corrects;
    this.$(".permalink").hidden = !visit.corrects;
    this.$(".permalink a").href = `clip?c=${encodeURIComponent(episode.id)}`;
  }

  // Renders what annotators and reviewers have in common. The legend is rendered again for another
  // episode or, if `redraw`, after a change of the page's colours.
  /** @param {{ visit: (View & { mark: Mark | null }) | null, help: boolean, guideline: boolean,
   *   reasons: boolean }} session @param {boolean} redraw */
  renderShown({ visit, help, guideline, reasons }, redraw) {
    this.$(".keys").hidden = !help;
    this.$('[data-action="help"]').setAttribute("aria-expanded", help);
    this.$(".judging").hidden = !visit;
    if (!visit) return;
    const { episode, frame, mark } = visit;
    if (redraw || this.listed !== episode) this.#renderLegend(episode);
    this.listed = episode;
    this.#renderInstruction(episode, frame);
    renderCriterion(this.$(".criterion"), episode.criterion, guideline, frame < episode.instruction.given_at);
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll(".verdicts button")))
      button.setAttribute("aria-pressed", String(mark?.verdict === button.dataset.action));
    this.#renderReasons(mark, reasons);
    renderUtterances(this.$(".utterances"), episode, frame);
  }

  askForWords() {
    this.$(".reasons input")?.focus();
  }

  #renderInstruction(episode, frame) {
    const wait = episode.instructions[0].given_at - frame;
    renderInstruction(this.$(".instruction"), episode, frame, `No instruction yet; it comes in ${count(wait, "step")}`);
    const { given_at } = episode.instruction;
    const given = this.$(".given-at");
    given.hidden = given_at === 0;
    given.querySelector("span").textContent = `Given ${before(episode, given_at)}.`;
  }

  #renderLegend(episode) {
    this.$(".legend").replaceChildren(...legendRows(episode, "evaluated player", this.symbol));
    this.$(".utterances ol").replaceChildren();
  }

  #renderReasons(mark, asked) {
    const box = this.$(".reasons");
    box.hidden = !asked;
    if (box.hidden) return box.replaceChildren();
    if (!box.children.length)
      box.replaceChildren(...reasonRows(REASONS, MOST_WORDS, (text) => this.ask({ name: "reason", text })));
    for (const button of box.querySelectorAll("button"))
      button.setAttribute("aria-pressed", mark.reason === REASONS[button.dataset.at]);
    const field = box.querySelector("input");
    if (mark.reason === null || REASONS.includes(mark.reason)) field.value = "";
    else if (field !== this.root.activeElement) field.value = mark.reason;
  }
}

/** @param {Episode} episode @param {number} frame */
function before({ takeover }, frame) {
  return frame < takeover ? `${count(takeover - frame, "step")} before the takeover` : "at the takeover";
}

/** @param {Round | null} round */
function inTraining(round) {
  if (!round) return "Training: this answer does not count.";
  const { size, answered, share, rounds } = round;
  const again = rounds ? `, round ${rounds + 1}` : "";
  const bar = `You pass with ${Math.ceil(share * size)} of ${size} correct answers`;
  return `Training${again}: ${answered} of ${size} answered. ${bar}; training answers do not count as judgements.`;
}
