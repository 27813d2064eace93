// The Viewer: a board, a timeline and controls, through which anybody can go through an episode. It
// knows of no verdict, queue or server, and can be mounted by any page:
//
//   const viewer = new Viewer(element, { drawings });
//   viewer.open(viewOf(decode(payload)));
//
// A page that wants to hear of every action before the Viewer does it gives `act`.

import { Board } from "./board.mjs";
import { count, placeOf } from "./episode.mjs";
import { PLAYBACK_KEYS, actionsOf } from "./keys.mjs";
import { element, isTyping, keepFocus, ownsKey } from "./page.mjs";
import { Playback, SPEEDS } from "./playback.mjs";

const BUTTONS = [
  ["start", "|◀", "Start of the context"],
  ["back", "◀", "One step back"],
  ["play", "Play", "Play or pause"],
  ["forward", "▶", "One step on"],
  ["end", "▶|", "End of the continuation"],
  ["takeover", "Takeover", "The takeover"],
  ["loop", "Loop", "The steps around the mark, again and again"],
];
const PACE = [
  ["slower", "−", "Slower"],
  ["faster", "+", "Faster"],
];

export class Viewer {
  // `rows` say what the keys do, and `act(action, now)` does it, where that is more than going through
  // the episode. `arrived(now)` is called when a picture has come, `ticked` when playing has gone on by
  // a frame, and `rendered` when what is shown has changed, before it is painted.
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
    root.replaceChildren(...parts(rows));
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
      marked: () => nearest(this.flags, this.playback.frame),
    });
    /** @type {Flag[]} */
    this.flags = []; // what the page wants to see marked on the timeline
    /** @type {{ episode: Episode, frame: number }[]} */
    this.soon = []; // views that will follow
    /** @type {any} */
    this.sight = null; // what somebody in the episode sees at its frames, shown in the place of all
    /** @type {Overlay | null} */
    this.overlay = null; // what the page wants to see marked on the board
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

  // Shows a view from where it stands; null shows nothing.
  /** @param {View | null} view */
  open(view) {
    this.playback.open(view, performance.now());
    this.render();
  }

  // ---- what a person does

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
    if (event.isComposing || ownsKey(event, this.root)) return;
    const typing = isTyping(event.composedPath()[0]);
    if (typing && !["Enter", "Escape"].includes(event.key)) return;
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

  // ---- what is shown

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
    const at = (frame, className, text = "", name = "i") => tick(episode, frame, className, text, name);
    this.$(".spoken").replaceChildren(
      ...utterances.map((u) => at(u.frame, "utterance")),
      ...instructions.filter((one) => one.given_at > 0).map((one) => at(one.given_at, "given", "instruction", "b")),
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
      box.replaceChildren(...this.flags.map((flag) => tick(episode, flag.frame, "flag", flag.sign ?? "", "b")));
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

// The frame of the flag that is nearest to a frame; null where there is none.
/** @param {Flag[]} flags @param {number} frame @returns {number | null} */
const nearest = (flags, frame) =>
  [...flags].sort((a, b) => Math.abs(a.frame - frame) - Math.abs(b.frame - frame))[0]?.frame ?? null;

// ---- what it is made of

// What stands on the timeline at a frame.
/** @param {Episode} episode @param {number} frame @param {string} className */
function tick(episode, frame, className, text = "", name = "i") {
  const made = element(name, { className, textContent: text });
  made.style.left = `${(100 * frame) / episode.steps}%`;
  return made;
}

/** @param {KeyRow[]} rows */
function parts(rows) {
  /** @param {string[]} row */
  const button = ([action, text, does]) => {
    const key = rows.find((row) => row.action === action)?.show;
    const made = element("button", { type: "button", className: action, textContent: text, title: `${does} (${key})` });
    made.dataset.action = action;
    if (/^\W+$/.test(text)) made.setAttribute("aria-label", does); // a sign alone says nothing aloud
    return made;
  };
  const part = (className, ...children) => {
    const made = element("div", { className });
    made.append(...children);
    return made;
  };
  const canvas = element("canvas");
  canvas.setAttribute("role", "img");
  const ticks = part("ticks", part("spoken"), part("flags"));
  const bar = [part("track", part("context"), part("continuation")), ticks];
  for (const one of bar) one.setAttribute("aria-hidden", "true");
  const scrub = element("input", { type: "range", className: "scrub", min: 0, step: 1 });
  scrub.setAttribute("aria-label", "Step of the episode");
  const words = ["part", "place", "said"].map((className) => element("span", { className }));
  const [slower, faster] = PACE.map(button);
  const autoplay = button(["autoplay", "Autoplay", "Start each episode by itself"]);
  const speed = element("span", { className: "speed" });
  const controls = part("controls", ...BUTTONS.map(button), part("pace", slower, speed, faster), autoplay);
  controls.setAttribute("role", "group");
  controls.setAttribute("aria-label", "Playback");
  return [part("board", canvas), part("timeline", ...bar, scrub), part("where", ...words), controls];
}
