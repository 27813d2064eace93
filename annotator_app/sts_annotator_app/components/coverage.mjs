// Filter of a draft: counts by category and difficulty, for each source and status.

import { element } from "../../../sts/viewer/page.mjs";

const DIFFICULTIES = ["easy", "medium", "hard"];
const STATUS_ROW = ["undecided", "accepted", "rejected", "kept", "retired"];

export class Coverage {
  // `choose` receives the changed fields of the filter; `leave` is called when the focus is given up.
  /** @param {HTMLElement} root
   * @param {{ choose: (parts: Partial<Listing>) => void, leave: () => void }} how */
  constructor(root, { choose, leave }) {
    this.root = root;
    this.leave = leave;
    this.key = "";
    root.addEventListener("click", ({ target }) => {
      const { parts } = /** @type {HTMLElement} */ (target).closest("button")?.dataset ?? {};
      if (parts) choose(JSON.parse(parts));
    });
  }

  focus() {
    const pressed = this.root.querySelector("button[aria-pressed=true]") ?? this.root.querySelector("button");
    /** @type {HTMLElement} */ (pressed)?.focus({ preventScroll: true });
  }

  // Takes arrow keys while one of its buttons has the focus; returns true if it handled the press.
  /** @param {KeyboardEvent} event */
  handleKey(event) {
    const target = event.composedPath()[0];
    if (!(target instanceof HTMLElement) || !this.root.contains(target)) return false;
    if (event.key === "Escape") this.leave();
    const rows = [...this.root.querySelectorAll("[data-row]")].map((row) => [...row.querySelectorAll("button")]);
    const y = rows.findIndex((row) => row.includes(/** @type {HTMLButtonElement} */ (target)));
    const x = rows[y]?.findIndex((button) => button === target);
    /** @type {Record<string, [number, number]>} */
    const ways = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const way = ways[event.key];
    if (!way) return event.key === "Escape";
    const row = rows[Math.max(0, Math.min(rows.length - 1, y + way[0]))];
    row[Math.max(0, Math.min(row.length - 1, x + way[1]))].focus();
    return true;
  }

  /** @param {Drafted["coverage"]} coverage @param {Listing | null} list */
  render(coverage, list) {
    const key = JSON.stringify([coverage, list]);
    if (!list || key === this.key) return;
    this.key = key;
    const at = this.#focused();
    const counts = new Counts(coverage, list);
    const named = (part, i) => [...new Set(coverage.map((row) => String(row[i])))].map((name) => [part, name]);
    const bar = (part, names) => {
      const box = element("div", { className: "choices" });
      box.dataset.row = part;
      box.append(...names.map((name) => filterButton(part, name, counts.total({ [part]: name }), list)));
      return box;
    };
    const statuses = STATUS_ROW.filter((name) => coverage.some((row) => row[3] === name));
    const sources = named("source", 2).map(([, name]) => name);
    this.root.replaceChildren(
      bar("status", ["", ...statuses]),
      ...(sources.length > 1 ? [bar("source", ["", ...sources])] : []),
      this.#grid(counts, named("category", 0).map(([, name]) => name), list),
    );
    if (at) /** @type {HTMLElement[]} */ ([...this.root.querySelectorAll("button")]).find((b) => b.dataset.parts === at)?.focus();
  }

  #focused() {
    const root = /** @type {ShadowRoot} */ (this.root.getRootNode());
    const { activeElement } = root;
    return this.root.contains(activeElement) ? /** @type {HTMLElement} */ (activeElement).dataset.parts : null;
  }

  /** @param {Counts} counts @param {string[]} categories @param {Listing} list */
  #grid(counts, categories, list) {
    const table = element("table");
    const head = element("tr");
    head.append(element("th"), ...["all", ...DIFFICULTIES].map((text) => element("th", { scope: "col", textContent: text })));
    const rows = ["", ...categories].map((category) => {
      const row = element("tr");
      row.dataset.row = "category";
      row.append(element("th", { scope: "row", textContent: category || "all" }));
      for (const difficulty of ["", ...DIFFICULTIES]) {
        const field = element("td");
        field.append(countButton({ category, difficulty }, counts.byStatus({ category, difficulty }), list));
        row.append(field);
      }
      return row;
    });
    table.append(head, ...rows);
    return table;
  }
}

// Numbers of candidates for values of some fields, the other fields being as in the filter.
class Counts {
  /** @param {Drafted["coverage"]} coverage @param {Listing} list */
  constructor(coverage, list) {
    this.coverage = coverage;
    this.list = list;
  }

  /** @param {Partial<Listing>} parts */
  #rows(parts) {
    const wanted = { ...this.list, ...parts };
    const fits = (own, part) => !part || own === part;
    return this.coverage.filter(
      ([category, difficulty, source, status]) =>
        fits(category, wanted.category) && fits(difficulty, wanted.difficulty) &&
        fits(source, wanted.source) && fits(status, wanted.status),
    );
  }

  /** @param {Partial<Listing>} parts */
  total(parts) {
    return this.#rows(parts).reduce((sum, row) => sum + row[4], 0);
  }

  // By status, regardless of the filter's status.
  /** @param {Partial<Listing>} parts @returns {Record<string, number>} */
  byStatus(parts) {
    /** @type {Record<string, number>} */
    const found = {};
    for (const [, , , status, count] of this.#rows({ ...parts, status: "" }))
      found[status] = (found[status] ?? 0) + count;
    return found;
  }
}

function filterButton(part, name, count, list) {
  const button = element("button", { type: "button" });
  button.dataset.parts = JSON.stringify({ [part]: name });
  button.setAttribute("aria-pressed", String(list[part] === name));
  button.append(name || (part === "status" ? "all" : "all sources"), element("span", { className: "count", textContent: count }));
  return button;
}

function countButton(parts, counts, list) {
  const button = element("button", { type: "button" });
  button.dataset.parts = JSON.stringify(parts);
  const chosen = list.category === parts.category && list.difficulty === parts.difficulty;
  button.setAttribute("aria-pressed", String(chosen));
  const stays = (counts.accepted ?? 0) + (counts.kept ?? 0);
  const goes = (counts.rejected ?? 0) + (counts.retired ?? 0);
  const waits = counts.undecided ?? 0;
  button.disabled = !(stays + goes + waits) && !chosen;
  const summary = `${parts.category || "all"}, ${parts.difficulty || "all"}: ${waits} undecided, ${stays} accepted, ${goes} rejected`;
  button.setAttribute("aria-label", summary);
  button.title = summary;
  for (const [status, count, sign] of [["undecided", waits, ""], ["accepted", stays, "✓"], ["rejected", goes, "✗"]])
    button.append(element("span", { className: status, textContent: count || (status === "undecided" && stays + goes) ? `${sign}${count}` : "" }));
  return button;
}
