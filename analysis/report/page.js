// The report's own script: it sorts and filters tables, leads from numbers to the scenarios behind
// them, and makes addresses of what is chosen. Without it the page says the same, in one order.
// Every name is foreign text, and only ever becomes text.
(() => {
  "use strict";

  const FEW = 8; // rows that need no filter
  const EMPTY = new Set(["", "–"]);
  /** @param {string} selector @returns {any} */
  const $ = (selector, root = document) => root.querySelector(selector);
  /** @param {string} tag @returns {any} */
  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  // ---- tables

  const textOf = (cell) => cell?.textContent.trim() ?? "";

  // What a cell is sorted by: its first number, else its text; null where it says nothing.
  function valueOf(cell, numeric) {
    const text = textOf(cell);
    if (EMPTY.has(text)) return null;
    if (!numeric) return text;
    const number = text.replace("−", "-").match(/-?\d*\.?\d+/);
    if (!number) return null;
    return +number[0] + (text.startsWith("<") ? -1e-9 : text.startsWith(">") ? 1e-9 : 0);
  }

  // The rows of a body, each with those that belong to it; headings stay where they are.
  function unitsOf(body) {
    const units = [];
    for (const row of body.rows) {
      if (row.matches(".remark, .detail") && units.length) units.at(-1).push(row);
      else if (!row.matches(".ranking")) units.push([row]);
    }
    return units;
  }

  function sort(table, column, direction) {
    const bodies = [...table.tBodies];
    const cells = bodies.flatMap((body) => unitsOf(body).map(([row]) => row.cells[column]));
    const spoken = cells.map(textOf).filter((text) => !EMPTY.has(text));
    const numeric = spoken.length > 0 && spoken.every((text) => /^[-+−<>(]?\s*\.?\d/.test(text));
    const way = direction ?? (numeric ? "descending" : "ascending");
    for (const body of bodies) {
      const units = unitsOf(body).map((unit, at) => [unit, valueOf(unit[0].cells[column], numeric), at]);
      units.sort(([, a, i], [, b, j]) => {
        if (a === null || b === null) return +(a === null) - +(b === null) || i - j;
        const order = numeric ? a - b : a.localeCompare(b, undefined, { numeric: true });
        return (way === "ascending" ? order : -order) || i - j;
      });
      body.append(...units.flatMap(([unit]) => unit));
    }
    for (const head of table.tHead.rows[0].cells) head.removeAttribute("aria-sort");
    table.tHead.rows[0].cells[column].setAttribute("aria-sort", way);
  }

  function addSorting(head) {
    if (!textOf(head)) return;
    const button = element("button", { type: "button", className: "sort" });
    if (head.querySelector("a")) {
      button.setAttribute("aria-label", `Sort by ${textOf(head)}`);
      head.append(button);
    } else {
      button.append(...head.childNodes);
      head.append(button);
    }
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const turned = { ascending: "descending", descending: "ascending" }[before];
      sort(head.closest("table"), head.cellIndex, turned);
    });
  }

  function addFilter(table) {
    const rows = [...table.tBodies].reduce((sum, body) => sum + unitsOf(body).length, 0);
    if (rows <= FEW) return;
    const field = element("input", { type: "search", placeholder: `filter ${rows} rows` });
    field.setAttribute("aria-label", "Filter the rows of this table");
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      for (const unit of [...table.tBodies].flatMap(unitsOf)) {
        const text = unit.map((row) => row.textContent).join(" ").toLowerCase();
        for (const row of unit) row.classList.toggle("filtered", !words.every((word) => text.includes(word)));
      }
    });
    table.closest(".scroll").before(element("p", { className: "controls" }, field));
  }

  for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll(".scroll table"))) {
    if (!table.tHead) continue;
    for (const head of [...table.tHead.rows[0].cells]) addSorting(head);
    addFilter(table);
  }

  // ---- scenarios

  const section = $("#scenarios");
  const table = $("#scenario-table");
  const choice = $("#choice");
  const evidence = section.dataset.evidence;
  const { agents, scenarios, rates } = JSON.parse($("#scenario-rates").textContent);
  const rows = [...table.tBodies[0].rows];
  const named = new Map(rows.map((row) => [scenarios[row.dataset.at][0], row]));
  const quoted = encodeURIComponent;
  const percent = (rate) => {
    if (rate === null) return "–";
    const near = (rate > 0 && rate < 10) || (rate > 990 && rate < 1000);
    return `${near ? (rate / 10).toFixed(1) : Math.round(rate / 10)}%`;
  };

  // What an address names: each key with its parts.
  function addressed() {
    /** @type {Record<string, string[]>} */
    const out = {};
    for (const part of location.hash.slice(1).split("&")) {
      const at = part.indexOf("=");
      if (at < 1) continue;
      try {
        out[part.slice(0, at)] = part.slice(at + 1).split(",").map(decodeURIComponent);
      } catch {
        // no address of ours
      }
    }
    return out;
  }

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
    const parts = [];
    for (const [key, value] of Object.entries({ category, kind, tag })) if (value) parts.push(`${key}=${quoted(value)}`);
    if (a && b) parts.push(`pair=${quoted(a)},${quoted(b)}`);
    else if (a) parts.push(`agent=${quoted(a)}`);
    if (show && a) parts.push(`show=${show}`);
    return `#${parts.join("&") || "scenarios"}`;
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
    select.replaceChildren(select.options[0] ?? "", ...values.map((one, i) => element("option", { value: one, textContent: names[i] })));
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
    show.replaceChildren(element("option", { value: "", textContent: "all" }));
    if (chosen.a) offer(show, ["below", "above"], chosen.show, words);
    show.disabled = !chosen.a;
  }

  // Adds the columns of the chosen agents, and sorts by what they differ in.
  function addColumns(chosen) {
    for (const cell of table.querySelectorAll(".chosen")) cell.remove();
    const columns = [chosen.a, chosen.b].filter(Boolean);
    const heads = columns.map((name) => element("th", { className: "chosen", textContent: name }));
    if (chosen.b) heads.push(element("th", { className: "chosen", textContent: "Difference" }));
    table.tHead.rows[0].append(...heads);
    heads.forEach(addSorting);
    for (const row of rows) {
      const { at } = row.dataset;
      const cells = columns.map((name) => percent(rateOf(name, at)));
      const ahead = lead(chosen, at);
      if (chosen.b) cells.push(ahead === null ? "–" : `${ahead < 0 ? "−" : "+"}${(Math.abs(ahead) / 10).toFixed(0)}`);
      row.append(...cells.map((text) => element("td", { className: "chosen", textContent: text })));
    }
    if (columns.length) sort(table, table.tHead.rows[0].cells.length - 1, "ascending");
    else sort(table, table.tHead.rows[0].cells.length - 3, "descending");
  }

  function clipsOf(id, { a, b }) {
    const whose = a && b ? `&pair=${quoted(a)},${quoted(b)}` : a ? `&agent=${quoted(a)}` : "";
    return `${evidence}#scenario=${quoted(id)}${whose}`;
  }

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
    const list = element("ul", { className: "rates" }, ...own.sort(([, a], [, b]) => b - a).map(([name, rate]) => {
      const label = evidence ? element("a", { href: clipsOf(chosen.scenario, { a: name, b: "" }), textContent: name }) : name;
      const bar = element("meter", { min: 0, max: 1000, value: rate });
      bar.setAttribute("aria-hidden", "true");
      return element("li", {}, element("span", {}, label), bar, percent(rate));
    }));
    row.after(element("tr", { className: "detail" }, element("td", { colSpan: row.cells.length }, list)));
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
    const reset = element("a", { href: "#scenarios", textContent: "All scenarios" });
    $("#chosen").replaceChildren(saying(chosen, shown), ...(addressOf(chosen) === "#scenarios" ? [] : [" ", reset]));
  }

  function follow() {
    const address = addressed();
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
})();
