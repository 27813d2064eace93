// Panel of the curation page: the candidate, its status and the changelog.

import { WHY } from "./decisions.mjs";
import { PLAYBACK_KEYS } from "../../../sts/viewer/keys.mjs";
import { element } from "../../../sts/viewer/page.mjs";
import { keyRows, legendRows, reasonRows, renderCriterion, renderUtterances } from "../../../sts/viewer/panel.mjs";

const MOST_REASON = 500; // characters of a typed reason
/** @type {Record<string, Partial<KeyRow>>} */
const REMAPPED = { watch: { keys: ["q"], show: "Q" }, loop: { keys: ["i"], show: "I" }, takeover: { keys: ["m"], show: "M" }, autoplay: { keys: ["p"], show: "P" } };

/** @type {KeyRow[]} */
export const CURATING_KEYS = [
  { keys: ["j"], show: "J", action: "next", help: "next candidate" },
  { keys: ["k"], show: "K", action: "previous", help: "previous candidate" },
  { keys: ["a"], show: "A", action: "accept", help: "accept, and go to the next" },
  { keys: ["r"], show: "R", action: "reject", help: "reject (then 1 to 5 for the reason; 0 or Enter to type one)" },
  { keys: ["t"], show: "T", action: "retire", help: "retire a scenario of the previous version" },
  { keys: ["1", "2", "3", "4", "5"], action: "reason" },
  { keys: ["0"], action: "words" },
  { keys: ["Enter"], action: "enter" },
  { keys: ["u"], show: "U", action: "undo", help: "undo your latest decision, then earlier ones" },
  { keys: ["e"], show: "E", action: "edit", help: "edit (S, M, L set start, takeover and last step to this frame)" },
  { keys: ["s"], action: "start-here" },
  { keys: ["l"], action: "end-here" },
  { keys: ["w"], action: "words" },
  { keys: ["g"], show: "G", action: "ghost", help: "preview of the next agent, and finally the recording" },
  { keys: ["o"], show: "O", action: "half", help: "other half of the contrast pair" },
  { keys: ["h"], show: "H", action: "guideline", help: "show or hide edge cases" },
  { keys: ["v"], show: "V", action: "sight", help: "evaluated player's view, or everything" },
  { keys: ["f"], show: "F", action: "filter", help: "filter (arrows, Enter, Esc)" },
  { keys: ["b"], show: "B", action: "rating", help: "start or stop second ratings, with decisions of others hidden" },
  { keys: ["y"], show: "Y", action: "yes", help: "second rating: two annotators would agree" },
  { keys: ["n"], show: "N", action: "no", help: "second rating: two annotators would not agree" },
  { keys: ["d"], show: "D", action: "drafts", help: "choose another draft" },
  { keys: ["Escape"], show: "Esc", action: "cancel", help: "cancel a reason or an edit, or close a note or this list" },
  { keys: ["?"], show: "?", action: "help", help: "show or hide this list" },
  ...PLAYBACK_KEYS.map((row) => ({ ...row, ...REMAPPED[row.action] })),
];
const DONE = { accept: "accepted", reject: "rejected", retire: "retired", undo: "undid", edit: "edited", rating: "rated" };
const OUTCOME = { success: "success at step", failure: "failure at step", not_done: "not completed" };
const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

export class Deciding {
  // `symbol` returns the symbol of an episode's object.
  /** @param {ShadowRoot} root
   * @param {{ symbol: (episode: Episode, object: number) => Element }} how */
  constructor(root, { symbol }) {
    this.root = root;
    this.symbol = symbol;
    this.$(".keys dl").replaceChildren(...keyRows(CURATING_KEYS));
  }

  /** @param {string} selector @returns {any} what the markup has there */
  $(selector) {
    return this.root.querySelector(selector);
  }

  /** @param {string} selector @param {string} text */
  #write(selector, text) {
    const box = this.$(selector);
    if (box.textContent !== text) box.textContent = text;
  }

  // The candidate is rendered again if it has changed or, if `redraw`, after a change of the page's colours.
  /** @param {import("./curation.mjs").Curation} curation @param {boolean} redraw */
  render(curation, redraw) {
    const { candidate, position, total, at, editing } = curation;
    this.$(".keys").hidden = !curation.help;
    this.$('[data-action="help"]').setAttribute("aria-expanded", curation.help);
    this.#renderDrafts(curation);
    const place = total ? (position === null ? `not in this list of ${total}` : `${position + 1} of ${total}`) : "";
    this.#write(".position", place);
    this.#write(".id", at ?? "");
    const state = at === null ? null : curation.statusOf(at);
    const { blind } = curation;
    if (blind) this.#renderRating(at === null ? "" : curation.ratingOf(at));
    else this.#renderState(state, curation.draft?.parent);
    this.$(".curate").classList.toggle("unseen", blind);
    this.$('[data-action="rating"]').setAttribute("aria-pressed", blind);
    this.#renderRatings(blind ? null : curation);
    for (const [action, off] of [["reject", state?.inherited], ["retire", !state?.inherited], ["accept", state?.status === "kept"]])
      this.$(`.answer [data-action=${action}]`).hidden = !!off;
    this.#renderReasons(curation.asking);
    this.#renderAgents(curation);
    this.#renderHalf(editing ? null : curation.half);
    this.#renderLog(curation);
    const tried = editing?.tried?.facts;
    const shown = candidate && tried ? { ...candidate, ...tried } : candidate;
    const key = tried ?? candidate;
    if (this.shown !== key || redraw) this.#renderCandidate(shown);
    this.shown = key;
    renderCriterion(this.$(".criterion"), shown?.criterion, curation.guideline);
    for (const one of /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll(".answer > .decide"))) one.hidden = !!editing;
    this.$(".coverage-box").hidden = !!editing;
    this.$('[data-action="sight"]').setAttribute("aria-pressed", curation.sees);
  }

  /** @param {import("./curation.mjs").Curation} curation */
  #renderDrafts({ drafts, name }) {
    const choice = this.$(".draft select");
    const key = drafts.join();
    this.$(".draft").hidden = drafts.length < 2;
    if (choice.dataset.key !== key) {
      choice.dataset.key = key;
      choice.replaceChildren(...drafts.map((one) => element("option", { value: one, textContent: one })));
    }
    if (name && choice.value !== name) choice.value = name;
  }

  /** @param {import("./curation.mjs").Curation} curation */
  #renderAgents({ passed, agent, editing, blind }) {
    const box = this.$(".agents");
    box.hidden = !!editing || blind;
    const key = JSON.stringify([passed, agent]);
    if (box.dataset.key === key) return;
    box.dataset.key = key;
    const rows = [["", ""], ...(passed ?? []).map(([name, successes, of]) => [name, ` ${successes}/${of}`])];
    box.querySelector("div").replaceChildren(...rows.map(([name, count]) => {
      const button = element("button", { type: "button", textContent: name || "recording" });
      button.append(element("b", { textContent: count }));
      Object.assign(button.dataset, { action: "ghost", text: name });
      button.setAttribute("aria-pressed", String(agent === name));
      return button;
    }));
  }

  /** @param {Half | null} half */
  #renderHalf(half) {
    const box = this.$(".half");
    box.hidden = !half;
    if (!half) return;
    this.#write(".half .other", half.instruction);
    this.#write(".half .what", `${half.id}, ${half.category}, ${half.difficulty}: ${half.status}${half.fault ? `. Not valid: ${half.fault}` : ""}`);
  }

  /** @param {Status | null} state @param {string | null} parent */
  #renderState(state, parent) {
    const { status = "", by = "", reason = "" } = state ?? {};
    const edited = state?.standing.at(-1)?.[1] === "edit" ? `, edited by ${by}` : "";
    const why = reason ? `: ${reason}` : "";
    const rest = { undecided: "", kept: ` from ${parent}` }[status] ?? (edited ? why : ` by ${by}${why}`);
    this.#write(".state", `${status}${rest}${edited}`);
    this.$(".state").className = `state ${state?.status ?? ""}`;
  }

  /** @param {string} word */
  #renderRating(word) {
    this.#write(".state", word ? `you rated ${word}` : "second rating, blind");
    this.$(".state").className = "state";
  }

  // Second ratings, visible to those who have rated the candidate, and their agreement.
  /** @param {import("./curation.mjs").Curation | null} curation */
  #renderRatings(curation) {
    const given = curation?.decided.get(curation.at)?.ratings ?? [];
    const agreed = curation?.agreement;
    const alpha = agreed && (agreed.alpha === null ? agreed.why : `alpha ${agreed.alpha.toFixed(2)}`);
    const parts = [
      ...(given.length ? [`Would two annotators agree? ${given.map(([by, word]) => `${by}: ${word}`).join(", ")}.`] : []),
      ...(agreed ? [`Second ratings agree in ${agreed.agreeing} of ${agreed.pairs} pairs (${alpha}).`] : []),
    ];
    this.#write(".ratings", parts.join(" "));
    this.$(".ratings").hidden = !parts.length;
  }

  /** @param {(Candidate & { decoded: Episode | null }) | null} candidate */
  #renderCandidate(candidate) {
    this.#write(".instruction", candidate?.instruction ?? "");
    const facts = candidate?.instruction === undefined ? [] : factsOf(candidate);
    this.$(".facts").replaceChildren(...facts.flatMap(([name, value]) => [
      element("dt", { textContent: name }),
      element("dd", { textContent: value }),
    ]));
    const fault = candidate?.broken ? `Cannot be displayed: ${candidate.broken}` : candidate?.fault ? `Not valid: ${candidate.fault}` : "";
    this.#write(".fault", fault);
    this.$(".fault").hidden = !fault;
    const episode = candidate?.decoded;
    this.$(".legend").replaceChildren(...(episode ? legendRows(episode, "evaluated player", this.symbol) : []));
    this.$(".utterances ol").replaceChildren();
  }

  /** @param {View | null} view */
  renderSaid(view) {
    if (view) renderUtterances(this.$(".utterances"), view.episode, view.frame);
  }

  /** @param {string | null} asking */
  #renderReasons(asking) {
    const box = this.$(".reasons");
    box.hidden = !asking;
    if (this.asking === asking) return;
    this.asking = asking;
    box.replaceChildren(...(asking ? [...reasonRows(WHY[asking], MOST_REASON, () => {}, 0), cancelButton()] : []));
  }

  askForWords() {
    this.$(".reasons input")?.focus();
  }

  get words() {
    return this.$(".reasons input")?.value ?? "";
  }

  /** @param {import("./curation.mjs").Curation} curation */
  #renderLog({ log, outbox }) {
    const known = new Set(log.map(({ uuid }) => uuid));
    const waiting = outbox.all().filter(({ uuid }) => !known.has(uuid)).reverse();
    const key = JSON.stringify([log, waiting]);
    if (key === this.logged) return;
    this.logged = key;
    const unsaved = waiting.map(({ kind, candidate, reason }) => ({ at: 0, by: "you", kind, candidate, why: reason ?? "" }));
    this.$(".log").hidden = !log.length && !unsaved.length;
    this.$(".log ol").replaceChildren(...[...unsaved, ...log].slice(0, log.length || 12).map(logRow));
  }
}

function cancelButton() {
  const button = element("button", { type: "button", textContent: "Cancel " });
  button.dataset.action = "cancel";
  button.append(element("kbd", { textContent: "Esc" }));
  return button;
}

function factsOf({ category, difficulty, source, takeover, context, horizon, partner, parameters, label, unchecked, doubts = "", tags }) {
  const [verdict, step] = label ?? [];
  const answers = parameters.map(([name, value]) => [name, value]);
  return [
    ["category", `${category}, ${difficulty}`],
    ...(doubts ? [["verdicts", doubts]] : []),
    ["recorded by", source],
    ...answers,
    verdict ? ["recording's label", `${OUTCOME[verdict]}${step === null ? "" : ` ${step}`} (automatic)`] : ["check", unchecked],
    ["takeover", `at step ${takeover}; context ${context}, horizon ${horizon}`],
    ["partner", partner],
    ...(tags.length ? [["tags", tags.join(", ")]] : []),
  ];
}

function logRow({ at, by, kind, candidate, why }) {
  const row = element("li");
  const button = element("button", { type: "button", textContent: candidate, title: "Go to this candidate" });
  Object.assign(button.dataset, { action: "candidate", text: candidate });
  row.append(element("span", { className: "at", textContent: at ? time.format(1000 * at) : "unsaved" }));
  row.append(`${by} ${DONE[kind] ?? kind} `, button, why ? `: ${why}` : "");
  return row;
}
