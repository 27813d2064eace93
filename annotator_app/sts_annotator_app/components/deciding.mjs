// The panel of the page on which a draft is decided: the candidate, what it has come to, the changelog.

import { WHY } from "./curation.mjs";
import { PLAYBACK_KEYS } from "../../../sts/viewer/keys.mjs";
import { element } from "../../../sts/viewer/page.mjs";
import { keyRows, legendRows, reasonRows, renderCriterion, renderUtterances } from "../../../sts/viewer/panel.mjs";

const MOST_REASON = 500; // letters of a typed reason
/** @type {Record<string, Partial<KeyRow>>} */
const OTHERWISE = { watch: { keys: ["q"], show: "Q" }, loop: { keys: ["i"], show: "I" }, takeover: { keys: ["m"], show: "M" }, autoplay: { keys: ["p"], show: "P" } };

/** @type {KeyRow[]} */
export const CURATING_KEYS = [
  { keys: ["j"], show: "J", action: "next", help: "next candidate" },
  { keys: ["k"], show: "K", action: "previous", help: "the one before" },
  { keys: ["a"], show: "A", action: "accept", help: "accept, and on to the next" },
  { keys: ["r"], show: "R", action: "reject", help: "reject (then 1 to 5: why; 0 or Enter: your own words)" },
  { keys: ["t"], show: "T", action: "retire", help: "retire a scenario of the version before" },
  { keys: ["1", "2", "3", "4", "5"], action: "reason" },
  { keys: ["0"], action: "words" },
  { keys: ["Enter"], action: "enter" },
  { keys: ["u"], show: "U", action: "undo", help: "undo your latest decision, and the one before it ..." },
  { keys: ["e"], show: "E", action: "edit", help: "edit it: S, M, L put start, takeover and last step where you are" },
  { keys: ["s"], action: "start-here" },
  { keys: ["l"], action: "end-here" },
  { keys: ["w"], action: "words" },
  { keys: ["g"], show: "G", action: "ghost", help: "how an agent goes on, and the next; at last the recording" },
  { keys: ["o"], show: "O", action: "half", help: "the other half of its pair" },
  { keys: ["h"], show: "H", action: "guideline", help: "how doubtful cases are judged" },
  { keys: ["v"], show: "V", action: "sight", help: "what the asked one sees, or all" },
  { keys: ["f"], show: "F", action: "filter", help: "choose what to go through: arrows, Enter, Esc" },
  { keys: ["b"], show: "B", action: "opinion", help: "give a second opinion, blind to what others decided; or leave it" },
  { keys: ["y"], show: "Y", action: "yes", help: "blind: two people would agree" },
  { keys: ["n"], show: "N", action: "no", help: "blind: two people would not agree" },
  { keys: ["d"], show: "D", action: "drafts", help: "choose another draft" },
  { keys: ["Escape"], show: "Esc", action: "cancel", help: "leave a reason, a note or this help" },
  { keys: ["?"], show: "?", action: "help", help: "show or hide these keys" },
  ...PLAYBACK_KEYS.map((row) => ({ ...row, ...OTHERWISE[row.action] })),
];
const DID = { accept: "accepted", reject: "rejected", retire: "retired", undo: "undid", edit: "edited", opinion: "looked at" };
const VERDICT = { success: "done at step", failure: "failed at step", not_done: "not done" };
const time = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

export class Deciding {
  // `write` is told what is typed as a reason; `symbol` gives the symbol of an episode's object.
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

  // The episode is listed anew when it is another, or when the colours of the page have changed.
  /** @param {import("./curation.mjs").Curation} curation @param {boolean} anew */
  render(curation, anew) {
    const { candidate, position, total, at, editing } = curation;
    this.$(".keys").hidden = !curation.help;
    this.$('[data-action="help"]').setAttribute("aria-expanded", curation.help);
    this.#renderDrafts(curation);
    const place = total ? (position === null ? `not in this list of ${total}` : `${position + 1} of ${total}`) : "";
    this.#write(".position", place);
    this.#write(".id", at ?? "");
    const state = at === null ? null : curation.statusOf(at);
    const { blind } = curation;
    if (blind) this.#renderOpinion(at === null ? "" : curation.opinionOf(at));
    else this.#renderState(state, curation.draft?.parent);
    this.$(".curate").classList.toggle("unseen", blind);
    this.$('[data-action="opinion"]').setAttribute("aria-pressed", blind);
    this.#renderOpinions(blind ? null : curation);
    for (const [action, off] of [["reject", state?.inherited], ["retire", !state?.inherited], ["accept", state?.status === "kept"]])
      this.$(`.answer [data-action=${action}]`).hidden = !!off;
    this.#renderReasons(curation.asking);
    this.#renderAgents(curation);
    this.#renderHalf(editing ? null : curation.half);
    this.#renderLog(curation);
    const tried = editing?.tried?.facts;
    const shown = candidate && tried ? { ...candidate, ...tried } : candidate;
    const key = tried ?? candidate;
    if (this.shown !== key || anew) this.#renderCandidate(shown);
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
    this.#write(".half .other", half.text);
    this.#write(".half .what", `${half.id}, ${half.category}, ${half.difficulty}: ${half.status}${half.fault ? `. It does not fit: ${half.fault}` : ""}`);
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
  #renderOpinion(word) {
    this.#write(".state", word ? `you said ${word}` : "second opinion, blind");
    this.$(".state").className = "state";
  }

  // What curators who were asked apart think, to those who have said what they do; and how far they agree.
  /** @param {import("./curation.mjs").Curation | null} curation */
  #renderOpinions(curation) {
    const given = curation?.decided.get(curation.at)?.opinions ?? [];
    const agreed = curation?.agreement;
    const alpha = agreed && (agreed.alpha === null ? agreed.why : `alpha ${agreed.alpha.toFixed(2)}`);
    const parts = [
      ...(given.length ? [`Would two people agree? ${given.map(([by, word]) => `${by}: ${word}`).join(", ")}.`] : []),
      ...(agreed ? [`Curators give the same opinion in ${agreed.agreeing} of ${agreed.pairs} pairs (${alpha}).`] : []),
    ];
    this.#write(".opinions", parts.join(" "));
    this.$(".opinions").hidden = !parts.length;
  }

  /** @param {(Candidate & { decoded: Episode | null }) | null} candidate */
  #renderCandidate(candidate) {
    this.#write(".instruction", candidate?.text ?? "");
    const facts = candidate?.text === undefined ? [] : factsOf(candidate);
    this.$(".facts").replaceChildren(...facts.flatMap(([name, value]) => [
      element("dt", { textContent: name }),
      element("dd", { textContent: value }),
    ]));
    const fault = candidate?.broken ? `It cannot be shown: ${candidate.broken}` : candidate?.fault ? `It does not fit: ${candidate.fault}` : "";
    this.#write(".fault", fault);
    this.$(".fault").hidden = !fault;
    const episode = candidate?.decoded;
    this.$(".legend").replaceChildren(...(episode ? legendRows(episode, "asked", this.symbol) : []));
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
    box.replaceChildren(...(asking ? [...reasonRows(WHY[asking], MOST_REASON, () => {}, 0), leaving()] : []));
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
    this.$(".log ol").replaceChildren(...[...unsaved, ...log].slice(0, log.length || 12).map(lineOf));
  }
}

function leaving() {
  const button = element("button", { type: "button", textContent: "Leave it undecided " });
  button.dataset.action = "cancel";
  button.append(element("kbd", { textContent: "Esc" }));
  return button;
}

function factsOf({ category, difficulty, source, moment, context, length, partner, parameters, label, tags }) {
  const [verdict, step] = label ?? [];
  const recorded = verdict ? `${VERDICT[verdict]}${step === null ? "" : ` ${step}`}` : "no rule here says";
  const answers = parameters.map(([name, value]) => [name, value]);
  return [
    ["category", `${category}, ${difficulty}`],
    ["recorded by", source],
    ...answers,
    ["in the recording", `${recorded} (automatic)`],
    ["takeover", `at step ${moment}; context ${context}, length ${length}`],
    ["others", partner],
    ...(tags.length ? [["tags", tags.join(", ")]] : []),
  ];
}

function lineOf({ at, by, kind, candidate, why }) {
  const row = element("li");
  const button = element("button", { type: "button", textContent: candidate, title: "Go to it" });
  Object.assign(button.dataset, { action: "candidate", text: candidate });
  row.append(element("span", { className: "at", textContent: at ? time.format(1000 * at) : "unsaved" }));
  row.append(`${by} ${DID[kind] ?? kind} `, button, why ? `: ${why}` : "");
  return row;
}
