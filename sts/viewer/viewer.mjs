// The Viewer: a board, a timeline and controls for playing an episode. It knows nothing of verdicts,
// queues or servers, and can be mounted by any page:
//
//   const viewer = new Viewer(element, { drawings });
//   viewer.open(viewOf(decode(payload)));
//
// A page that handles actions itself passes `act`.

import { Board } from "./board.mjs";
import { count, placeOf } from "./episode.mjs";
import { PLAYBACK_KEYS, actionsOf } from "./keys.mjs";
import { element, isTyping, keepFocus, ownsKey } from "./page.mjs";
import { Playback, SPEEDS } from "./playback.mjs";

const BUTTONS = [
  ["start", "|◀", "Go to the start of the context"],
  ["back", "◀", "One step back"],
  ["play", "Play", "Play or pause"],
  ["forward", "▶", "One step forward"],
  ["end", "▶|", "Go to the end of the continuation"],
  ["takeover", "Takeover", "Go to the takeover"],
  ["loop", "Loop", "Loop the steps around the marker"],
];
const PACE = [
  ["slower", "−", "Slower"],
  ["faster", "+", "Faster"],
];

export class Viewer {
  // `rows` map keys to actions and `act(action, now)` performs them; by default it controls playback.
  // `arrived(now)` is called when a picture was decoded, `ticked` after each played frame, and
  // `rendered` before a changed view is painted.
  /** @param {HTMLElement} root
   * @param {{ drawings: Drawings, settings?: { speed?: number, autoplay?: boolean },
   *   rows?: KeyRow[], act?: (action: Action, now: number) => void,
   *   arrived?: (now: number) => void, ticked?: () => void, rendered?: () => void }} how */
  constructor(root, { drawings, settings, rows = PLAYBACK_KEYS, act, arrived, ticked, rendered }) {
    this.root = root;
    this.ticked = ticked;
    this.rendered = rendered;
    this.abort = new AbortController();
    /** @type {Episode | null} */
    this.drawn = null;
    this.act = act ?? ((action, now) => this.playback.act(action, now));
    root.classList.add("sts", "viewer");
    root.tabIndex = -1;
    root.replaceChildren(...buildParts(rows));
    this.board = new Board(this.$("canvas"), {
      drawings,
      changed: () => {
        (arrived ?? (() => this.playback.arrived()))(performance.now());
        this.render();
      },
    });
    this.playback = new Playback({
      settings,
      pictured: (episode, frame) => this.board.pictured(episode, frame),
      marked: () => nearestFlag(this.flags, this.playback.frame),
    });
    /** @type {Flag[]} */
    this.flags = []; // marked by the page on the timeline
    /** @type {{ episode: Episode, frame: number }[]} */
    this.soon = []; // views that are likely to follow
    /** @type {any} */
    this.sight = null; // a player's view of the episode, displayed instead of the whole board
    /** @type {Overlay | null} */
    this.overlay = null; // marked by the page on the board
    this.actionOf = actionsOf(rows);
    this.#listen();
    this.resize = new ResizeObserver(() => this.#show());
    this.resize.observe(this.$("canvas"));
  }

  /** @param {string} selector @returns {any} what the markup has there */
  $(selector) {
    return this.root.querySelector(selector);
  }

  destroy() {
    this.abort.abort();
    this.resize.disconnect();
    cancelAnimationFrame(this.request);
    this.board.close();
  }

  focus() {
    this.root.focus({ preventScroll: true });
  }

  // Displays a view at its current frame; null displays nothing.
  /** @param {View | null} view */
  open(view) {
    this.playback.open(view, performance.now());
    this.render();
  }

  // ---- input

  #listen() {
    const { signal } = this.abort;
    const on = (type, listener) => this.root.addEventListener(type, listener, { signal });
    window.addEventListener("keydown", (event) => this.#key(event), { signal, capture: true });
    on("mousedown", keepFocus);
    on("click", (event) => {
      const name = event.target.closest("button")?.dataset.action;
      if (name) this.ask({ name });
    });
    on("input", (event) => this.ask({ name: "seek", frame: +event.target.value }));
  }

  #key(event) {
    if (ownsKey(event, this.root)) return;
    const typing = isTyping(event.composedPath()[0]);
    if (typing && (event.isComposing || !["Enter", "Escape"].includes(event.key))) return;
    const action = this.actionOf(event);
    if (!action) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (typing) this.focus();
    this.ask(action);
  }

  /** @param {Action} action */
  ask(action) {
    this.act(action, performance.now());
    this.render();
  }

  #loop() {
    cancelAnimationFrame(this.request);
    if (!this.playback.playing) return;
    this.request = requestAnimationFrame((now) => {
      if (this.playback.tick(now)) {
        this.ticked?.();
        this.render();
      } else this.#loop();
    });
  }

  // ---- display

  render() {
    this.rendered?.();
    const { view } = this.playback;
    this.root.dataset.frame = String(this.playback.frame);
    this.board.keep(this.sight && view ? { episode: this.sight, frame: view.frame } : view, this.soon);
    this.root.hidden = !view;
    if (!view) return;
    const { episode, frame } = view;
    if (this.drawn !== episode) this.#renderTimeline(episode);
    const { width = 1, height = 1 } = this.sight ?? episode;
    this.root.style.setProperty("--ratio", String(width / height));
    this.#show();
    const [part, place] = placeOf(episode, frame);
    this.$(".part").textContent = part;
    this.$(".part").className = `part ${part}`;
    this.$(".place").textContent = place;
    this.$(".said").textContent = episode.utterances
      .filter((u) => u.frame === frame)
      .map((u) => `${episode.names[u.object]} says: ${u.text}`)
      .join(" · ");
    this.#renderFlags(episode, frame, part, place);
    this.#renderControls();
    this.#loop();
  }

  #show() {
    const { view, playing, speed } = this.playback;
    if (!view) return;
    const { episode, frame } = view;
    if (this.sight) return this.board.showSight(this.sight, frame);
    const latest = new Map();
    for (const u of episode.utterances)
      if (u.frame <= frame && frame - u.frame < Math.max(1, speed)) latest.set(u.object, u);
    this.board.show(episode, frame, [...latest.values()], this.overlay);
    if (!playing) this.board.describe(episode, frame);
  }

  #renderTimeline(episode) {
    this.drawn = episode;
    const { steps, takeover, instructions, utterances } = episode;
    this.$(".scrub").max = steps;
    this.$(".context").style.width = `${(100 * takeover) / steps}%`;
    const at = (frame, className, text = "", name = "i") => createTick(episode, frame, className, text, name);
    this.$(".spoken").replaceChildren(
      ...utterances.map((u) => at(u.frame, "utterance")),
      ...instructions.filter(({ given_at }) => given_at > 0).map(({ given_at }) => at(given_at, "given", "instruction", "b")),
      at(takeover, "takeover"),
      at(takeover, "name", "takeover", "b"),
    );
  }

  #renderFlags(episode, frame, part, place) {
    const key = JSON.stringify(this.flags);
    const box = this.$(".flags");
    if (box.dataset.key !== key || this.flagged !== episode) {
      this.flagged = episode;
      box.dataset.key = key;
      box.replaceChildren(...this.flags.map((flag) => createTick(episode, flag.frame, "flag", flag.sign ?? "", "b")));
    }
    const here = this.flags.filter((flag) => flag.frame === frame).map(({ text }) => text);
    const scrub = this.$(".scrub");
    scrub.value = frame;
    scrub.setAttribute("aria-valuetext", [`${part}, ${place}`, ...here].join("; "));
  }

  #renderControls() {
    const { playing, speed, autoplay, around } = this.playback;
    this.$(".play").textContent = playing ? "Pause" : "Play";
    this.$(".loop").setAttribute("aria-pressed", !!around);
    this.$(".speed").textContent = `${count(speed, "step")}/s`;
    this.$('[data-action="slower"]').disabled = speed === SPEEDS[0];
    this.$('[data-action="faster"]').disabled = speed === SPEEDS.at(-1);
    this.$(".autoplay").setAttribute("aria-pressed", autoplay);
  }
}

/** @typedef {{ frame: number, sign?: string, text: string }} Flag */

// The frame of the flag nearest to `frame`, or null without flags.
/** @param {Flag[]} flags @param {number} frame @returns {number | null} */
const nearestFlag = (flags, frame) =>
  [...flags].sort((a, b) => Math.abs(a.frame - frame) - Math.abs(b.frame - frame))[0]?.frame ?? null;

// ---- construction

// Creates an element on the timeline at a frame.
/** @param {Episode} episode @param {number} frame @param {string} className */
function createTick(episode, frame, className, text = "", name = "i") {
  const node = element(name, { className, textContent: text });
  node.style.left = `${(100 * frame) / episode.steps}%`;
  return node;
}

/** @param {KeyRow[]} rows */
function buildParts(rows) {
  /** @param {string[]} row */
  const button = ([action, text, does]) => {
    const key = rows.find((row) => row.action === action)?.show;
    const node = element("button", { type: "button", className: action, textContent: text, title: `${does} (${key})` });
    node.dataset.action = action;
    if (/^\W+$/.test(text)) node.setAttribute("aria-label", does); // screen readers do not read the sign
    return node;
  };
  const part = (className, ...children) => {
    const node = element("div", { className });
    node.append(...children);
    return node;
  };
  const canvas = element("canvas");
  canvas.setAttribute("role", "img");
  const ticks = part("ticks", part("spoken"), part("flags"));
  const bar = [part("track", part("context"), part("continuation")), ticks];
  for (const layer of bar) layer.setAttribute("aria-hidden", "true");
  const scrub = element("input", { type: "range", className: "scrub", min: 0, step: 1 });
  scrub.setAttribute("aria-label", "Step of the episode");
  const words = ["part", "place", "said"].map((className) => element("span", { className }));
  const [slower, faster] = PACE.map(button);
  const autoplay = button(["autoplay", "Autoplay", "Start each episode automatically"]);
  const speed = element("span", { className: "speed" });
  const controls = part("controls", ...BUTTONS.map(button), part("pace", slower, speed, faster), autoplay);
  controls.setAttribute("role", "group");
  controls.setAttribute("aria-label", "Playback");
  return [part("board", canvas), part("timeline", ...bar, scrub), part("where", ...words), controls];
}
