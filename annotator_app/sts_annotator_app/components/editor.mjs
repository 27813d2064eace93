// Editor of a candidate: handles on the timeline, instruction templates and fields.

import { element } from "../../../sts/viewer/page.mjs";

const HANDLES = [
  ["start", "S", "Start of the context"],
  ["takeover", "M", "Takeover"],
  ["end", "L", "Last step"],
];

const LEVELS = ["easy", "medium", "hard"];
const KINDS = ["instruction", "question"];
const FIELDS = ["criterion", "edge_cases", "player", "category", "kind", "partner", "difficulty", "pair", "dialogue", "turn"];

export class EditorPanel {
  // `ask` receives the actions of the editor; the handles are added to the Viewer's timeline.
  /** @param {HTMLElement} root @param {HTMLElement} timeline @param {{ ask: (action: Action) => void }} how */
  constructor(root, timeline, { ask }) {
    this.root = root;
    this.ask = ask;
    this.steps = 1;
    this.bar = element("div", { className: "span", hidden: true });
    this.bar.append(element("div", { className: "fits", title: "Steps that fit as the takeover" }), element("i", { className: "within" }), ...HANDLES.map((row) => this.#handle(row)));
    timeline.append(this.bar);
    /** @returns {any} */
    const field = (name) => root.querySelector(`[name=${name}]`);
    for (const name of ["instruction", "tags", ...FIELDS])
      field(name).addEventListener(field(name).tagName === "SELECT" ? "change" : "input", () => ask({ name: "change", text: name, word: field(name).value }));
  }

  /** @param {string[]} row */
  #handle([which, sign, text]) {
    const handle = element("button", { type: "button", textContent: sign, title: `${text} (${sign})` });
    handle.dataset.handle = which;
    handle.setAttribute("role", "slider");
    handle.setAttribute("aria-label", text);
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      event.stopPropagation();
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const { left, width } = this.bar.getBoundingClientRect();
      this.ask({ name: "move", text: which, frame: Math.round((this.steps * (event.clientX - left)) / width) });
    });
    return handle;
  }

  // Takes arrow keys while a handle has the focus; returns true if it handled the press.
  /** @param {KeyboardEvent} event */
  handleKey(event) {
    const target = event.composedPath()[0];
    if (!(target instanceof HTMLElement) || !target.dataset.handle) return false;
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!by) return false;
    const frame = +target.getAttribute("aria-valuenow") + by * (event.shiftKey ? 10 : 1);
    this.ask({ name: "move", text: target.dataset.handle, frame });
    return true;
  }

  focus(name) {
    const field = this.root.querySelector(`[name=${name}]`);
    /** @type {HTMLElement} */ (field).focus();
  }

  /** @param {import("./editing.mjs").Editing | null} editing */
  render(editing) {
    this.root.hidden = !editing;
    this.bar.hidden = !editing?.whole;
    if (!editing) return void (this.shown = null);
    const { root } = this;
    const write = (name, value) => {
      const field = /** @type {HTMLInputElement} */ (root.querySelector(`[name=${name}]`));
      if (/** @type {ShadowRoot} */ (root.getRootNode()).activeElement !== field) field.value = value;
    };
    if (editing.whole) this.#renderSpan(editing);
    if (this.shown !== editing.choices && editing.choices) this.#renderChoices(editing);
    this.shown = editing.choices;
    write("instruction", editing.instruction);
    write("tags", editing.tags);
    for (const name of FIELDS) write(name, editing.valueOf(name) ?? "");
    this.#renderTemplates(editing);
    this.#renderChanges(editing);
  }

  #renderSpan({ span, whole, steps }) {
    this.steps = whole.steps;
    const at = (frame) => `${(100 * frame) / whole.steps}%`;
    if (this.marked !== steps) {
      const marks = runsOf(steps).map(([first, last]) => {
        const mark = element("i");
        Object.assign(mark.style, { left: at(first - 0.5), width: at(last - first + 1) });
        return mark;
      });
      this.bar.querySelector(".fits").replaceChildren(...marks);
      this.marked = steps;
    }
    const within = /** @type {HTMLElement} */ (this.bar.querySelector(".within"));
    within.style.left = at(span.start);
    within.style.width = at(span.end - span.start);
    for (const handle of this.bar.querySelectorAll("button")) {
      const frame = span[handle.dataset.handle];
      handle.style.left = at(frame);
      handle.setAttribute("aria-valuenow", frame);
      handle.setAttribute("aria-valuemin", "0");
      handle.setAttribute("aria-valuemax", String(whole.steps));
      handle.setAttribute("aria-valuetext", `step ${frame}`);
    }
  }

  #renderChoices({ choices }) {
    const fill = (name, options) =>
      this.root.querySelector(`[name=${name}]`).replaceChildren(
        ...options.map(([value, text]) => element("option", { value, textContent: text })),
      );
    fill("player", choices.players.map((name, player) => [player, name]));
    for (const [name, options] of [["partner", choices.partners], ["difficulty", LEVELS], ["kind", KINDS]])
      fill(name, options.map((option) => [option, option]));
    this.root.querySelector("#categories").replaceChildren(...choices.categories.map((value) => element("option", { value })));
  }

  #renderTemplates({ tried, changes }) {
    const box = this.root.querySelector(".templates");
    const templates = tried?.templates ?? [];
    const key = templates.join("\n");
    if (this.shownTemplates !== key) {
      this.shownTemplates = key;
      box.replaceChildren(...templates.slice(0, 5).map((text, n) => {
        const button = element("button", { type: "button" });
        Object.assign(button.dataset, { action: "reason", at: n });
        button.append(element("kbd", { textContent: n + 1 }), text);
        return button;
      }));
    }
    [...box.children].forEach((one, n) => one.setAttribute("aria-pressed", String(changes.template === n)));
  }

  #renderChanges({ whole, tried, answered, number }) {
    const { root } = this;
    const rows = (tried?.changes ?? []).filter(([name]) => name !== "state at takeover");
    const items = rows.map(([name, before, after]) => {
      const row = element("li");
      row.append(element("b", { textContent: name }), ` ${before} → ${after}`);
      return row;
    });
    const list = this.root.querySelector(".changes");
    list.classList.toggle("old", answered !== number);
    list.replaceChildren(...items);
    const notice = /** @type {HTMLElement} */ (root.querySelector(".notice"));
    notice.hidden = !tried?.notice;
    notice.textContent = tried?.notice ? `Note: ${tried.notice}.` : "";
    const fault = tried?.error ?? (tried?.facts?.fault ? `Not valid: ${tried.facts.fault}` : "");
    const box = /** @type {HTMLElement} */ (this.root.querySelector(".unfit"));
    const { unchecked } = tried?.facts ?? {};
    const fits = unchecked ? `${unchecked[0].toUpperCase()}${unchecked.slice(1)}.` : "Valid.";
    box.textContent = fault || (tried?.facts ? fits : whole ? "Checking ..." : "Loading the whole recording ...");
    box.classList.toggle("bad", !!fault);
  }
}

// Returns the first and last step of each run of successive steps.
/** @param {number[]} steps @returns {[first: number, last: number][]} */
export function runsOf(steps) {
  /** @type {[number, number][]} */
  const runs = [];
  for (const step of [...new Set(steps)].sort((a, b) => a - b))
    if (runs.at(-1)?.[1] === step - 1) runs.at(-1)[1] = step;
    else runs.push([step, step]);
  return runs;
}
