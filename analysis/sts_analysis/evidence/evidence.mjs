// The clips behind a report: the continuations of each scenario, the verdicts on them, and one or two
// of them in the Viewer, side by side. A scenario's file is a script that hands over its data, because
// browsers do not fetch files from a disk. All names are foreign text, and only ever become text.

import { clipPage } from "../../../sts/viewer/clip.mjs";
import { element } from "../../../sts/viewer/page.mjs";
import { inWords } from "../../../sts/viewer/verdicts.mjs";

/** @typedef {{ said: [string, string, Verdict, number | null, string][], item: string | null, episode?: any }} Kept */
/** @typedef {[clip: number, continuations: number, value: number | null]} Share */
/** @typedef {{ scenario: string, category: string, asked: string, clips: Kept[], agents: [string, Share[]][] }} Listing */

/** @type {Record<string, Listing>} */
const listings = Object.create(null);
/** @type {Record<string, any>} */
const bases = Object.create(null);
let title = "";
/** @type {string[]} */
let order = [];
/** @type {Map<string, string>} */
let files = new Map();
let app = ""; // the address at which the app shows a clip, but for the clip; "" where there is none

/** @param {string} selector @returns {any} */
const $ = (selector) => document.querySelector(selector);
const quoted = encodeURIComponent;

/** @param {string} tag @param {object} properties @param {(Node | string)[]} children @returns {any} */
function part(tag, properties = {}, ...children) {
  const made = element(tag, properties);
  made.append(...children);
  return made;
}

/** @param {number | null} rate */
const percent = (rate) => (rate === null ? "–" : `${Math.round(100 * rate)}%`);

// The functions that the files call.
const handed = {
  index(data) {
    [title, order] = data;
    files = new Map(data[2]);
    app = location.protocol === "file:" ? "" : data[3] ?? "";
  },
  listing(name, data) {
    listings[name] = data;
  },
  clip(name, at, episode) {
    bases[name] ??= episode;
    listings[name].clips[at].episode = { ...bases[name], ...episode, id: `${name}-${at}` };
  },
};
Object.assign(window, { stsEvidence: handed });

/** @param {string} address @returns {Promise<void>} */
const script = (address) => new Promise((done, failed) => {
  const tag = part("script", { src: address });
  tag.addEventListener("load", () => done());
  tag.addEventListener("error", () => failed(new Error(`${address} is missing: keep the folder evidence next to the report`)));
  document.head.append(tag);
});

/** @param {string} scenario @returns {Promise<Listing>} */
async function listingOf(scenario) {
  const name = files.get(scenario);
  if (name === undefined) throw new Error(`There is no scenario “${scenario}” here.`);
  if (!listings[name]) await script(`scenarios/${name}.js`);
  return listings[name];
}

/** @param {Share} share */
const signOf = ([, , value]) => (value === null ? "–" : value >= 0.5 ? "✓" : "✗");

/** @param {Share[]} shares */
function rateOf(shares) {
  const judged = shares.filter(([, , value]) => value !== null);
  const number = judged.reduce((sum, [, count]) => sum + count, 0);
  return number ? judged.reduce((sum, [, count, value]) => sum + count * value, 0) / number : null;
}

/** @param {Kept} clip */
function isDisputed({ said }) {
  const outcomes = said.filter(([, kind, verdict]) => kind === "verdict" && verdict !== "cannot_judge");
  return new Set(outcomes.map(([, , verdict]) => verdict === "success")).size > 1;
}

const NOT_HERE = "This clip is not included. “sts report --clips all” includes all clips.";

// ---- one pane: an agent, its clips, and the Viewer on one of them

class Pane {
  /** @param {string} called @param {(agent: string) => void} choose */
  constructor(called, choose) {
    this.select = part("select");
    this.select.setAttribute("aria-label", called);
    this.select.addEventListener("change", () => choose(this.select.value));
    this.chips = part("div", { className: "chips" });
    this.chips.setAttribute("role", "group");
    this.chips.setAttribute("aria-label", "Clips");
    this.note = part("p", { className: "said" });
    this.host = part("div", { className: "host" });
    this.root = this.host.attachShadow({ mode: "open" });
    this.root.append($("#clip").content.cloneNode(true));
    this.element = part("section", { className: "pane" }, part("label", {}, `${called} `, this.select), this.chips, this.note, this.host);
  }

  // Shows an agent's clips, and of these the one whose outcome is asked for, or the first.
  /** @param {Listing} listing @param {string} agent @param {boolean | null} passed */
  show(listing, agent, passed) {
    this.listing = listing;
    const shares = listing.agents.find(([name]) => name === agent)?.[1] ?? [];
    const sorted = [...shares].sort(([, a], [, b]) => b - a);
    this.buttons = sorted.map((share) => this.#chip(share));
    this.chips.replaceChildren(...this.buttons);
    this.item = "";
    const seen = sorted.filter(([at]) => this.#isThere(at));
    const fits = ([, , value]) => passed === null || (value !== null && value >= 0.5 === passed);
    const first = seen.find(fits) ?? seen[0];
    this.host.hidden = true;
    this.note.textContent = agent && !first ? NOT_HERE : "";
    if (first) this.#watch(first, passed !== null);
  }

  /** @param {number} at */
  #isThere(at) {
    const { episode, item } = this.listing.clips[at];
    return !!episode || !!(app && item);
  }

  /** @param {Share} share */
  #chip(share) {
    const [at, count] = share;
    const { said } = this.listing.clips[at];
    const disputed = isDisputed(this.listing.clips[at]) ? " ≠" : "";
    const text = `${signOf(share)}${count > 1 ? ` ×${count}` : ""}${disputed}`;
    const people = said.map(([by, , verdict, step]) => `${by}: ${inWords({ verdict, step })}`).join("; ");
    const button = part("button", { type: "button", textContent: text, title: people || "no verdicts" });
    button.classList.toggle("missing", !this.#isThere(at));
    button.dataset.at = at;
    button.addEventListener("click", () => {
      if (this.#isThere(at)) this.#watch(share, !!panes[1].select.value);
      else this.note.textContent = NOT_HERE;
      sayBoth();
    });
    return button;
  }

  // Shows a clip here, or says where the app shows it.
  /** @param {Share} share @param {boolean} beside */
  #watch([at], beside) {
    const { said, episode, item } = this.listing.clips[at];
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(+button.dataset.at === at));
    this.note.textContent = isDisputed(this.listing.clips[at]) ? "≠ Annotators disagree on this one. " : "";
    this.item = episode ? "" : item;
    this.host.hidden = !episode;
    if (!episode) return this.note.append(linkTo("Watch it in the app", item));
    const marks = said.map(([by, kind, verdict, step, reason]) => ({ by, kind, verdict, step, reason }));
    clipPage({ parentElement: this.root, data: { episode, marks, beside } });
  }
}

const linkTo = (text, where) => part("a", { href: `${app}${where}`, target: "_blank", rel: "noopener", textContent: text });

function sayBoth() {
  const [a, b] = panes.map((pane) => pane.item);
  $("#both").replaceChildren(...(a && b ? [linkTo("Watch both side by side", `${a}&beside=${b}`)] : []));
}

// ---- the page

const panes = [new Pane("Agent", (agent) => choose(0, agent)), new Pane("Compare with", (agent) => choose(1, agent))];
$("main").append(...panes.map((pane) => pane.element));

// The scenario and the agents in the page's address, "#scenario=ID&pair=A,B"; "" for what is missing.
/** @returns {{ scenario: string, a: string, b: string }} */
function chosenNow() {
  const given = (key) => (location.hash.slice(1).split("&").find((term) => term.startsWith(`${key}=`)) ?? "").slice(key.length + 1);
  try {
    const [[scenario], [a, b = ""]] = ["scenario", "pair"].map((key) => given(key).split(",").map(decodeURIComponent));
    return { scenario: scenario || files.keys().next().value, a, b };
  } catch {
    return { scenario: location.hash, a: "", b: "" };
  }
}

/** @param {string} scenario @param {string[]} agents */
function setAddress(scenario, agents) {
  location.hash = `#scenario=${quoted(scenario)}&pair=${agents.map(quoted).join(",")}`;
}

/** @param {number} at @param {string} agent */
function choose(at, agent) {
  const both = panes.map((pane) => pane.select.value);
  both[at] = agent;
  setAddress(chosenNow().scenario, both);
}

/** @param {HTMLSelectElement} select @param {Iterable<string>} names @param {string} value */
function offer(select, names, value) {
  select.replaceChildren(...Array.from(names, (name) => part("option", { value: name, textContent: name || "none" })));
  select.value = value;
}

// The two that differ most, where none is named: the best, and the worst if that is another.
/** @param {[string, number | null][]} rates */
function furthest(rates) {
  const known = rates.filter(([, rate]) => rate !== null).sort(([, a], [, b]) => b - a);
  if (!known.length) return [rates[0]?.[0] ?? "", ""];
  const [best, worst] = [known[0], known.at(-1)];
  return best[1] > worst[1] ? [worst[0], best[0]] : [best[0], ""];
}

async function follow() {
  const chosen = chosenNow();
  $("#scenario").value = chosen.scenario;
  let listing;
  try {
    listing = await listingOf(chosen.scenario);
  } catch (/** @type {any} */ error) {
    $("#status").textContent = error.message;
    $("main").hidden = true;
    return;
  }
  if (chosen.scenario !== chosenNow().scenario) return; // another was opened meanwhile
  $("main").hidden = false;
  const own = new Map(listing.agents);
  const names = [...order, ...[...own.keys()].filter((name) => !order.includes(name))].filter((name) => own.has(name));
  /** @type {[string, number | null][]} */
  const rates = names.map((name) => [name, rateOf(own.get(name))]);
  const [a, b] = own.has(chosen.a) ? [chosen.a, own.has(chosen.b) ? chosen.b : ""] : furthest(rates);
  document.title = `${listing.scenario} – ${title}`;
  $("h1").textContent = listing.scenario;
  $("#asked").textContent = [listing.category, listing.asked && `“${listing.asked}”`].filter(Boolean).join(": ");
  const said = rates.map(([name, rate]) => `${name} ${percent(rate)}`);
  $("#status").textContent = `Passed by: ${said.join(" · ")}. ✓ and ✗ are clips that passed and failed, ×n so many continuations alike, ≠ in dispute.`;
  offer(panes[0].select, names, a);
  offer(panes[1].select, ["", ...names], b);
  $("main").classList.toggle("two", !!b);
  const better = b ? rateOf(own.get(a)) >= rateOf(own.get(b)) : null;
  panes[1].show(listing, b, better === null ? null : !better);
  panes[0].show(listing, a, better);
  sayBoth();
}

window.addEventListener("hashchange", follow);
$("#scenario").addEventListener("change", (event) => setAddress(event.target.value, panes.map((pane) => pane.select.value)));
await script("index.js");
offer($("#scenario"), files.keys(), "");
await follow();
