// The play page: the player's view, actions and utterances.

import { Board } from "../../../sts/viewer/board.mjs";
import { drawings } from "../../../sts/viewer/drawings.mjs";
import { count } from "../../../sts/viewer/episode.mjs";
import { closeConnectionDialogs, localStore, ownerOf } from "./browser.mjs";
import { element, isTyping, keepFocus, mounted, ownsKey } from "../../../sts/viewer/page.mjs";
import { COMPASS, Turns, speechHelp, turnAction } from "./turns.mjs";

const RESEND_TURNS = 3000; // ms before turns without an answer are sent again
const CONTEXT_PACE = 350; // ms a step while the context plays
const PAUSE = 120; // seconds: longer pauses count as this long

class PlayPage {
  /** @type {Turns | undefined} */ turns;
  /** @type {string | undefined} */ author;

  /** @param {ShadowRoot} root */
  constructor(root) {
    this.root = root;
    this.abort = new AbortController();
    this.seenAt = performance.now();
    this.board = new Board(this.$("canvas"), { drawings, changed: () => this.playing && this.#draw() });
    this.resize = new ResizeObserver(() => this.playing && this.#draw());
    this.resize.observe(this.$("canvas"));
    this.#listen();
    closeConnectionDialogs(this.abort.signal);
    this.timers = [
      setInterval(() => this.#resend(), RESEND_TURNS),
      setInterval(() => this.turns?.tick() && this.#render(), CONTEXT_PACE),
    ];
  }

  /** @param {string} selector @returns {any} what the markup has there */
  $(selector) {
    return this.root.querySelector(selector);
  }

  get playing() {
    return !!this.turns?.view?.session;
  }

  destroy() {
    this.abort.abort();
    this.resize.disconnect();
    this.timers.forEach(clearInterval);
    this.board.close();
  }

  // If another person signed in on this browser, the data is theirs: their page displays it after a
  // reload, and the turns made here stay in storage for their player.
  /** @param {{ data: Shown & { author: string, trouble?: string },
   *   setStateValue: (name: string, value: object) => void }} component */
  update({ data, setStateValue }) {
    this.send = setStateValue;
    this.author ??= ownerOf(data.author);
    if (data.trouble || this.author !== data.author) return this.#say(data.trouble || OTHER_PERSON);
    const first = !this.turns;
    this.turns ??= new Turns({ storage: localStore(), namespace: this.author });
    this.turns.receive(data);
    if (first && !isTyping(document.activeElement)) this.$(".play").focus({ preventScroll: true });
    if (this.turns.behind) this.#flush();
    if (this.turns.view) this.#render();
  }

  #say(text) {
    if (this.playing) this.$(".status").textContent = text;
    else this.#renderEnd("", text), (this.$(".empty").hidden = false);
  }

  #flush() {
    this.send("sync", { author: this.author, ...this.turns.state });
  }

  #resend() {
    if (this.turns?.behind) this.#flush();
  }

  #listen() {
    const { signal } = this.abort;
    window.addEventListener("keydown", (event) => {
      if (!this.playing || isTyping(event.composedPath()[0]) || ownsKey(event, this.root)) return;
      const action = turnAction(event, this.turns.layout);
      if (!action) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      this.#act(action);
    }, { capture: true, signal });
    this.root.addEventListener("mousedown", keepFocus, { signal });
    this.root.addEventListener("click", (event) => {
      const button = /** @type {HTMLElement} */ (event.target).closest("button");
      if (button?.dataset.action === "next") this.#next();
      else if (button) this.#act({ name: button.dataset.action, move: button.dataset.move, word: button.dataset.word });
    }, { signal });
  }

  #act(action) {
    const now = performance.now();
    this.turns.spend(Math.min((now - this.seenAt) / 1000, PAUSE));
    this.seenAt = now;
    const moved = this.turns.act(action);
    this.#render();
    if (moved) this.#flush();
  }

  #next() {
    this.send("sync", { author: this.author, session: null, turns: [], asked: performance.now() });
  }

  #render() {
    const { turns } = this;
    const { view } = turns;
    const host = this.$(".play");
    host.dataset.session = view.session ?? "";
    host.dataset.frame = turns.frame ?? "";
    host.dataset.played = view.played ?? "";
    this.$(".turn").hidden = !view.session || view.finished;
    this.#renderOutcome(view);
    if (!view.session) return;
    this.#keepSprites(view.sprites ?? []);
    const sight = view.frames[turns.frame];
    const step = turns.frame - view.takeover;
    this.$(".part").textContent = this.#part(view, step);
    this.$(".place").textContent = view.sprites ? `You are: ${view.you}` : this.board.placeOf(view, turns.frame);
    this.$(".reward").textContent = [
      `Last reward ${signed(sight.last_reward)}`,
      ...(sight.last_move ? [`last action ${sight.last_move}`] : []),
      ...(turns.lastWord ? [`you said ${turns.lastWord}`] : []),
    ].join(" · ");
    const heard = Object.entries(sight.heard ?? {}).map(([word, n]) => (n > 1 ? `${word} (${n} times)` : word));
    this.$(".heard").textContent = heard.length ? `Heard: ${heard.join(", ")}` : "";
    const { instruction } = turns;
    this.$(".instruction").textContent = instruction ?? "No instruction yet";
    this.$(".instruction").classList.toggle("none", instruction === null);
    const hint = step < 0 ? "Watch the context first, or press T to skip to your turn." : "";
    this.$(".status").textContent = turns.message || hint;
    this.$(".word").textContent = turns.word ? `“${view.tokens[turns.word]}”` : "none (silent)";
    this.#renderButtons(view);
    this.#draw();
  }

  // Decodes the current sprite, its neighbours and the latest: each may take many megabytes.
  #keepSprites(sprites) {
    const { at } = this.turns.sprite ?? {};
    const texts = [at, at + 1, at - 1, sprites.length - 1].flatMap((i) => sprites[i]?.webp ?? []);
    this.board.film.keep(texts.slice(0, 1), texts.slice(1));
  }

  #part(view, step) {
    if (step < 0) return `Context: ${count(-step, "step")} to your turn`;
    if (view.finished) return "Finished";
    if (this.turns.frame < this.turns.last) return `Looking back: after step ${step} of ${view.horizon}`;
    return `Your turn: step ${step + 1} of ${view.horizon}`;
  }

  #renderButtons(view) {
    const { layout } = this.turns;
    if (this.shownLayout !== layout) {
      this.shownLayout = layout;
      const keys = Object.fromEntries(Object.entries(layout).map(([key, move]) => [move, key.toUpperCase()]));
      const order = layout === COMPASS ? Object.values(layout) : view.moves; // nine directions in compass order
      this.$(".pad").replaceChildren(...order.map((move) => this.#button("move", move, keys[move])));
      const speaks = view.tokens.length > 1;
      this.$(".speech").hidden = !speaks;
      this.$(".help").textContent = HELP + (speaks ? speechHelp(layout, view.tokens) : "");
      this.$(".words").replaceChildren(...view.tokens.slice(1).map((word) => this.#button("say", word)));
    }
    for (const button of this.$(".pad").children) button.disabled = !this.turns.myTurn;
    for (const button of this.$(".words").children) {
      button.disabled = view.finished;
      button.setAttribute("aria-pressed", view.tokens[this.turns.word] === button.dataset.word && this.turns.word > 0);
    }
  }

  #button(action, what, key) {
    const button = element("button", { type: "button", textContent: what });
    Object.assign(button.dataset, { action, move: what, word: what });
    if (key) button.append(element("kbd", { textContent: key }));
    return button;
  }

  #renderOutcome(view) {
    const none = view.broken ? brokenFor(view.broken) : NONE_LEFT;
    this.$(".empty").hidden = !!view.session && !view.finished;
    this.#renderEnd(...(view.session ? FINISHED : none));
    const next = this.$("[data-action=next]");
    next.hidden = !view.session;
    if (view.finished && this.root.activeElement !== next) next.focus();
  }

  #renderEnd(title, text) {
    this.$(".empty h2").textContent = title;
    this.$(".empty p").textContent = text;
  }

  #draw() {
    const { view, frame } = this.turns;
    this.$(".turn").classList.toggle("framed", !!view.sprites);
    this.$(".turn").style.setProperty("--ratio", view.sprites ? view.width / view.height : 1);
    this.board.showSight(view, frame);
  }
}

const HELP = "Press Space to play the context, T to jump to your turn, ← → to look back. ";
const OTHER_PERSON =
  "Another person signed in on this browser. Your turns are kept here; open your own invitation link to continue.";
const FINISHED = [
  "Finished, thank you",
  "Your continuation is saved. Others will judge it without knowing that it is yours.",
];
const NONE_LEFT = [
  "No scenarios left to play",
  "You have played or annotated every scenario of this suite that one person can play.",
];
const brokenFor = (n) => [
  `${count(n, "scenario")} cannot be displayed`,
  "Something is wrong on the server. Please tell the study lead.",
];
const signed = (n) => (n > 0 ? `+${n}` : `${n}`.replace("-", "−"));

export default mounted("play", (root) => new PlayPage(root));
