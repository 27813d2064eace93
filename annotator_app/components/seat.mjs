// The page of the human seat: a neighbourhood or a picture, the moves, a word.

import { paintFrame } from "./draw_frame.mjs";
import { drawings } from "./drawings.mjs";
import { count } from "./episode.mjs";
import { Film } from "./film.mjs";
import { closeConnectionDialogs, element, isTyping, keepFocus, localStore, ownsKey, themeOf } from "./page.mjs";
import { Seat, seatAction } from "./seat_state.mjs";

const RESEND_TURNS = 3000; // ms until turns that the server has not shown are sent again
const CONTEXT_PACE = 350; // ms a step while the context plays
const PAUSE = 120; // seconds of one pause that count as time spent, at most

class SeatPage {
  constructor(root) {
    this.root = root;
    this.abort = new AbortController();
    this.calls = 0;
    this.seenAt = performance.now();
    this.film = new Film(() => this.seat?.view?.seat && this.#draw());
    this.resize = new ResizeObserver(() => this.seat?.view?.seat && this.#draw());
    this.resize.observe(this.$("canvas"));
    this.#listen();
    closeConnectionDialogs(this.abort.signal);
    this.timers = [
      setInterval(() => this.#resend(), RESEND_TURNS),
      setInterval(() => this.seat?.tick() && this.#render(), CONTEXT_PACE),
    ];
  }

  $(selector) {
    return this.root.querySelector(selector);
  }

  destroy() {
    this.abort.abort();
    this.resize.disconnect();
    this.timers.forEach(clearInterval);
    this.film.close();
  }

  update({ data, setStateValue }) {
    this.send = setStateValue;
    if (this.namespace !== data.namespace) {
      this.namespace = data.namespace;
      this.seat = new Seat({ storage: localStore(), namespace: data.namespace });
    }
    this.seat.receive(data);
    if (this.calls++ === 0 && !isTyping(document.activeElement)) this.$(".seat").focus({ preventScroll: true });
    if (data.seat && data.played < this.seat.turns.length) this.#flush();
    this.#render();
    return this.calls;
  }

  #flush() {
    this.send("sync", this.seat.state);
  }

  #resend() {
    const { seat } = this;
    if (seat?.view?.seat && seat.turns.length > seat.view.played) this.#flush();
  }

  #listen() {
    const { signal } = this.abort;
    window.addEventListener("keydown", (event) => {
      if (!this.seat?.view?.seat || isTyping(event.composedPath()[0]) || ownsKey(event, this.root)) return;
      const action = seatAction(event, this.seat.layout);
      if (!action) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      this.#act(action);
    }, { capture: true, signal });
    this.root.addEventListener("mousedown", keepFocus, { signal });
    this.root.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button?.dataset.action === "next") this.#next();
      else if (button) this.#act({ name: button.dataset.action, move: button.dataset.move, word: button.dataset.word });
    }, { signal });
  }

  #act(action) {
    const now = performance.now();
    this.seat.spend(Math.min((now - this.seenAt) / 1000, PAUSE));
    this.seenAt = now;
    const moved = this.seat.act(action);
    this.#render();
    if (moved) this.#flush();
  }

  #next() {
    this.send("sync", { seat: null, turns: [], asked: performance.now() });
  }

  #render() {
    const { seat } = this;
    const { view } = seat;
    const host = this.$(".seat");
    host.dataset.seat = view.seat ?? "";
    host.dataset.frame = seat.frame ?? "";
    host.dataset.played = view.played ?? "";
    this.$(".play").hidden = !view.seat || view.finished;
    this.#renderEnd(view);
    if (!view.seat) return;
    this.#keepSheets(view.sheets ?? []);
    const sight = view.frames[seat.frame];
    const step = seat.frame - view.takeover;
    this.$(".part").textContent = this.#part(view, step);
    this.$(".place").textContent = view.sheets ? `You are: ${view.you}` : drawings.get(view.drawing).placeOf?.(sight) ?? "";
    this.$(".reward").textContent = [
      `Last reward ${signed(sight.last_reward)}`,
      ...(sight.last_move ? [`last move ${sight.last_move}`] : []),
      ...(seat.lastWord ? [`you said ${seat.lastWord}`] : []),
    ].join(" · ");
    const heard = Object.entries(sight.heard ?? {}).map(([word, n]) => (n > 1 ? `${word} (${n} times)` : word));
    this.$(".heard").textContent = heard.length ? `Heard: ${heard.join(", ")}` : "";
    const { instruction } = seat;
    this.$(".instruction").textContent = instruction ?? "No instruction yet";
    this.$(".instruction").classList.toggle("none", instruction === null);
    const hint = step < 0 ? "Watch the context first; T skips to your turn." : "";
    this.$(".status").textContent = seat.message || hint;
    this.$(".word").textContent = seat.word ? `“${view.tokens[seat.word]}”` : "nothing (silence)";
    this.#renderButtons(view);
    this.#draw();
  }

  // The picture in view, those beside it and the latest: each may be of many megabytes.
  #keepSheets(sheets) {
    const { at } = this.seat.picture ?? {};
    const texts = [at, at + 1, at - 1, sheets.length - 1].flatMap((i) => sheets[i]?.webp ?? []);
    this.film.keep(texts.slice(0, 1), texts.slice(1));
  }

  #part(view, step) {
    if (step < 0) return `Context: ${count(-step, "step")} to your turn`;
    if (view.finished) return "Finished";
    if (this.seat.frame < this.seat.last) return `Looking back: after step ${step} of ${view.horizon}`;
    return `Your turn: step ${step + 1} of ${view.horizon}`;
  }

  #renderButtons(view) {
    const { layout } = this.seat;
    if (this.drawnLayout !== layout) {
      this.drawnLayout = layout;
      const keys = Object.fromEntries(Object.entries(layout).map(([key, move]) => [move, key.toUpperCase()]));
      const order = view.sheets ? view.moves : Object.values(layout); // nine ways stand as on a compass
      this.$(".pad").replaceChildren(...order.map((move) => this.#button("move", move, keys[move])));
      this.$(".speech").hidden = view.tokens.length < 2;
      this.$(".help").textContent = HELP + (view.tokens.length < 2 ? "" : SPEECH);
      this.$(".words").replaceChildren(...view.tokens.slice(1).map((word) => this.#button("say", word)));
    }
    for (const button of this.$(".pad").children) button.disabled = !this.seat.myTurn;
    for (const button of this.$(".words").children) {
      button.disabled = view.finished;
      button.setAttribute("aria-pressed", view.tokens[this.seat.word] === button.dataset.word && this.seat.word > 0);
    }
  }

  #button(action, what, key) {
    const button = element("button", { type: "button", textContent: what });
    Object.assign(button.dataset, { action, move: what, word: what });
    if (key) button.append(element("kbd", { textContent: key }));
    return button;
  }

  #renderEnd(view) {
    const none = view.broken ? brokenFor(view.broken) : NONE_LEFT;
    const [title, text] = view.seat ? FINISHED : none;
    this.$(".empty").hidden = !!view.seat && !view.finished;
    this.$(".empty h2").textContent = title;
    this.$(".empty p").textContent = text;
    const next = this.$("[data-action=next]");
    next.hidden = !view.seat;
    if (view.finished && this.root.activeElement !== next) next.focus();
  }

  #draw() {
    const { view, picture } = this.seat;
    const canvas = this.$("canvas");
    this.$(".play").classList.toggle("framed", !!picture);
    this.$(".play").style.setProperty("--ratio", picture ? view.width / view.height : 1);
    const scale = devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * scale);
    const height = Math.round(canvas.clientHeight * scale);
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    if (picture) return this.#drawFrame(canvas, picture, { ...themeOf(this.root.host), scale });
    const sight = this.seat.view.frames[this.seat.frame];
    const x = canvas.getContext("2d");
    x.setTransform(1, 0, 0, 1, 0, 0);
    x.clearRect(0, 0, width, height);
    x.save();
    const drawing = drawings.get(this.seat.view.drawing);
    drawing.paintSight(canvas, sight, { ...themeOf(this.root.host), scale });
    x.restore();
    canvas.setAttribute("aria-label", drawing.describeSight?.(sight) ?? "What you see");
  }

  #drawFrame(canvas, picture, theme) {
    const { height, width, takeover } = this.seat.view;
    const line = this.seat.frame > takeover ? theme.accent : theme.border;
    const bitmap = this.film.bitmap(picture.webp);
    if (!bitmap && this.painted === this.seat.seat) return; // the frame before stays for these moments
    if (bitmap) this.painted = this.seat.seat;
    paintFrame(canvas, bitmap, { height, width, ...picture }, line, theme);
    canvas.setAttribute("aria-label", "Picture of the scene");
  }
}

const HELP = "Space plays the context, T jumps to your turn, ← → look back. ";
const SPEECH =
  "Q W E A S D Z X C or the keypad move; with Shift they are said instead; " +
  "Y, N, M and 0 to 8 are said; Backspace says nothing.";
const FINISHED = [
  "Finished, thank you",
  "Your continuation is kept and will be judged by others, who are not told that it is yours.",
];
const NONE_LEFT = [
  "No scenario is left for you",
  "You have played, or already judged, every scenario of this suite that one person can play.",
];
const brokenFor = (n) => [
  `${count(n, "scenario")} cannot be shown`,
  "Something is wrong on the server. Please tell whoever runs this study.",
];
const signed = (n) => (n > 0 ? `+${n}` : `${n}`.replace("-", "−"));

export default function (component) {
  const root = component.parentElement; // the same shadow root at every call while mounted
  const page = (root.page ??= new SeatPage(root));
  const call = page.update(component);
  return () => {
    if (page.calls !== call) return; // a later call took over: not an unmount
    page.destroy();
    delete root.page;
  };
}
