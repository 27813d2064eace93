// From numbers to the scenarios behind them: what is chosen stands in the page's address.

import { addressed, part, percent, quoted, whose } from "./parts.mjs";
import { addSorting, sort } from "./tables.mjs";

const SPREAD = 2; // its column
/** @param {string} selector @returns {any} */
const $ = (selector, root = document) => root.querySelector(selector);
const section = $("#scenarios");
const table = $("#scenario-table");
const choice = $("#choice");
const evidence = section.dataset.evidence;
const { agents, scenarios, rates } = JSON.parse($("#scenario-rates").textContent);
const rows = [...table.tBodies[0].rows];
const named = new Map(rows.map((row) => [scenarios[row.dataset.at][0], row]));

function chosenBy(address) {
  const [a = "", b = ""] = address.pair ?? address.agent ?? [];
  const first = (key) => address[key]?.[0] ?? "";
  const known = (name) => (agents.includes(name) ? name : "");
  return {
    category: first("category"), kind: first("kind"), tag: first("tag"), show: first("show"),
    scenario: first("scenario"), a: known(a), b: known(b),
  };
}

function addressOf({ category, kind, tag, a, b, show }) {
  const groups = Object.entries({ category, kind, tag }).filter(([, value]) => value);
  const chosen = groups.map(([key, value]) => `&${key}=${quoted(value)}`).join("") + whose(a, b);
  return `#${(chosen + (show && a ? `&show=${show}` : "")).slice(1) || "scenarios"}`;
}

const rateOf = (agent, at) => rates[agents.indexOf(agent)]?.[at] ?? null;

// A's rate above what it is held against: B's, or one half; null where one of them is not known.
function lead({ a, b }, at) {
  const [one, other] = [rateOf(a, at), b ? rateOf(b, at) : 500];
  return one === null || other === null ? null : one - other;
}

function isShown(chosen, at) {
  const [, category, kind, tags] = scenarios[at];
  if (chosen.category && chosen.category !== category) return false;
  if (chosen.kind && chosen.kind !== kind) return false;
  if (chosen.tag && !tags.includes(chosen.tag)) return false;
  if (!chosen.a || !chosen.show) return true;
  const ahead = lead(chosen, at);
  return ahead !== null && (chosen.show === "below" ? ahead < 0 : chosen.b ? ahead > 0 : ahead >= 0);
}

function offer(select, values, value, names = values) {
  select.replaceChildren(select.options[0] ?? "", ...values.map((one, i) => part("option", { value: one, textContent: names[i] })));
  select.value = value;
}

function offerAll(chosen) {
  const { category, a, b, show } = choice.elements;
  offer(category, [...new Set(scenarios.map((one) => one[1]).filter(Boolean))].sort(), chosen.category);
  offer(a, agents, chosen.a);
  offer(b, agents.filter((name) => name !== chosen.a), chosen.b);
  b.disabled = !chosen.a;
  const words = chosen.b
    ? [`${chosen.a} below ${chosen.b}`, `${chosen.a} above ${chosen.b}`]
    : [`failed by ${chosen.a} more often than not`, `passed by ${chosen.a} half of the time or more`];
  show.replaceChildren(part("option", { value: "", textContent: "all" }));
  if (chosen.a) offer(show, ["below", "above"], chosen.show, words);
  show.disabled = !chosen.a;
}

// Adds the columns of the chosen agents, and sorts by what they differ in.
function addColumns(chosen) {
  for (const cell of table.querySelectorAll(".chosen")) cell.remove();
  const columns = [chosen.a, chosen.b].filter(Boolean);
  const heads = columns.map((name) => part("th", { className: "chosen", textContent: name }));
  if (chosen.b) heads.push(part("th", { className: "chosen", textContent: "Difference" }));
  table.tHead.rows[0].cells[0].after(...heads); // in sight on a phone too
  heads.forEach(addSorting);
  for (const row of rows) {
    const { at } = row.dataset;
    const cells = columns.map((name) => percent(rateOf(name, at)));
    const ahead = lead(chosen, at);
    if (chosen.b) cells.push(ahead === null ? "–" : `${ahead < 0 ? "−" : "+"}${(Math.abs(ahead) / 10).toFixed(0)}`);
    row.cells[0].after(...cells.map((text) => part("td", { className: "chosen", textContent: text })));
  }
  if (columns.length) sort(table, heads.length, "ascending");
  else sort(table, SPREAD, "descending");
}

/** @param {string} id @param {{ a: string, b: string }} chosen */
const clipsOf = (id, { a, b }) => `${evidence}#scenario=${quoted(id)}${whose(a, b)}`;

// What is chosen, in a sentence.
function saying(chosen, shown) {
  const { category, kind, tag, a, b, scenario } = chosen;
  if (scenario && !named.has(scenario)) return `There is no scenario “${scenario}” here.`;
  const of = [category, kind, tag].filter(Boolean).map((name) => ` of ${name}`).join("");
  const parts = [`${shown.length} of ${scenarios.length} scenarios${of}.`];
  const leads = shown.map((at) => lead(chosen, at)).filter((one) => one !== null);
  const count = (test) => leads.filter(test).length;
  const [below, above] = [count((one) => one < 0), count((one) => one > 0)];
  if (a && b) parts.push(`Of these ${a} passes less often than ${b} in ${below}, more often in ${above}, as often in ${leads.length - below - above}.`);
  else if (a) parts.push(`Of these ${a} fails more often than not in ${below}.`);
  return parts.join(" ");
}

function openScenario(chosen) {
  $(".detail", table)?.remove();
  const row = named.get(chosen.scenario);
  if (!row) return;
  const { at } = row.dataset;
  const own = agents.map((name) => [name, rateOf(name, at)]).filter(([, rate]) => rate !== null);
  const list = part("ul", { className: "rates" }, ...own.sort(([, a], [, b]) => b - a).map(([name, rate]) => {
    const label = evidence ? part("a", { href: clipsOf(chosen.scenario, { a: name, b: "" }), textContent: name }) : name;
    const bar = part("meter", { min: 0, max: 1000, value: rate });
    bar.setAttribute("aria-hidden", "true");
    return part("li", {}, part("span", {}, label), bar, percent(rate));
  }));
  row.after(part("tr", { className: "detail" }, part("td", { colSpan: row.cells.length }, list)));
}

function show(chosen) {
  offerAll(chosen);
  addColumns(chosen);
  const shown = [];
  for (const row of rows) {
    const at = +row.dataset.at;
    const inside = isShown(chosen, at) || scenarios[at][0] === chosen.scenario;
    if (inside) shown.push(at);
    row.classList.toggle("left-out", !inside);
    const link = $(".play", row);
    if (link) link.href = clipsOf(scenarios[at][0], chosen);
  }
  openScenario(chosen);
  const reset = part("a", { href: "#scenarios", textContent: "All scenarios" });
  $("#chosen").replaceChildren(saying(chosen, shown), ...(addressOf(chosen) === "#scenarios" ? [] : [" ", reset]));
}

function follow() {
  const address = addressed(location.hash);
  const ours = ["category", "kind", "tag", "agent", "pair", "scenario"].some((key) => key in address);
  if (!ours && location.hash !== "#scenarios") return;
  const chosen = chosenBy(address);
  show(chosen);
  const row = named.get(chosen.scenario);
  (row ?? section).scrollIntoView({ block: row ? "center" : "start" });
}

choice.addEventListener("submit", (event) => event.preventDefault());
choice.addEventListener("change", () => {
  const { category, a, b, show: which } = choice.elements;
  const value = { category: category.value, a: a.value, b: b.value === a.value ? "" : b.value, show: which.value };
  location.hash = addressOf({ kind: "", tag: "", ...value });
});
window.addEventListener("hashchange", follow);
window.addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details")) one.open = true;
});
show(chosenBy({}));
follow();
