// Tables that are sorted and filtered. Without this they stand in one order, and say the same.

import { part } from "./parts.mjs";

const FEW = 8; // rows that need no filter
const EMPTY = new Set(["", "–"]);

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

// Sorts a table by a column; numbers begin with the highest where no direction is given.
export function sort(table, column, direction) {
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

export function addSorting(head) {
  if (!textOf(head)) return;
  const button = part("button", { type: "button", className: "sort" });
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
  const field = part("input", { type: "search", placeholder: `filter ${rows} rows` });
  field.setAttribute("aria-label", "Filter the rows of this table");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const unit of [...table.tBodies].flatMap(unitsOf)) {
      const text = unit.map((row) => row.textContent).join(" ").toLowerCase();
      for (const row of unit) row.classList.toggle("filtered", !words.every((word) => text.includes(word)));
    }
  });
  table.closest(".scroll").before(part("p", { className: "controls" }, field));
}

for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll(".scroll table"))) {
  if (!table.tHead) continue;
  for (const head of [...table.tHead.rows[0].cells]) addSorting(head);
  addFilter(table);
}
