// The page of a live session: the world, the instructions, and the connection to the server.

import { Board } from "../../../sts/viewer/board.mjs";
import { drawings } from "../../../sts/viewer/drawings.mjs";
import { element, isTyping, keepFocus, mounted, ownsKey } from "../../../sts/viewer/page.mjs";
import { closeConnectionDialogs, localStore, ownerOf } from "./browser.mjs";
import { LiveSession, MARK_KEYS, MARK_NAMES } from "./livesession.mjs";
import { COMPASS, speechHelp } from "./controls.mjs";
import { isTouch } from "../../../sts/viewer/keys.mjs";
import { legendRows } from "../../../sts/viewer/panel.mjs";

const KEY_NAMES = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", " ": "Space" };
const CONFIRM = 4000; // ms in which a second click ends the session
const SILENCE = 15000; // ms without a message, not even a beat, after which the connection is lost
const ROLES = { setter: "You set the tasks", solver: "You carry out the tasks", player: "You play", scenario: "You do what the instruction says" };

class LivePage {
  /** @type {LiveSession} */ live = null;
  /** @type {WebSocket} */ socket = null;
  author = "";
  session = "";
  isDrawing = false;

  /** @param {ShadowRoot} root */
  constructor(root) {
    this.root = root;
    this.abort = new AbortController();
    this.board = new Board(this.$("canvas"), { drawings, changed: () => this.#drawSoon() });
    this.resize = new ResizeObserver(() => this.#drawSoon());
    this.resize.observe(this.$("canvas"));
    this.timer = setInterval(() => {
      if (this.socket && performance.now() - this.heardAt > SILENCE) this.#lose();
      if (this.live) this.#renderStatus();
    }, 200);
    this.#listen();
    closeConnectionDialogs(this.abort.signal);
  }

  /** @param {string} selector @returns {any} what the markup has there */
  $(selector) {
    return this.root.querySelector(selector);
  }

  destroy() {
    this.abort.abort();
    this.resize.disconnect();
    clearInterval(this.timer);
    this.#disconnect();
    this.board.close();
  }

  // If another person signed in on this browser, the page stays theirs only after a reload.
  /** @param {{ data: LiveData, setStateValue: (name: string, value: object) => void }} component */
  update({ data, setStateValue }) {
    this.tell = setStateValue;
    this.author ||= ownerOf(data.author);
    if (this.author !== data.author || (this.session && this.session === data.session)) return;
    const { session, prompts, completions, base } = data;
    this.#disconnect();
    this.session = session;
    this.live = new LiveSession({ storage: localStore(), namespace: this.author, session, random, prompts, completions });
    this.address = `${location.origin.replace("http", "ws")}${base}/live/${session}`;
    this.$("[name=text]").value = this.live.kept.draft;
    this.$("datalist").replaceChildren(...completions.map((value) => element("option", { value })));
    this.#connect();
  }

  #connect() {
    this.#disconnect();
    const socket = (this.socket = new WebSocket(this.address));
    this.heardAt = performance.now();
    socket.addEventListener("message", ({ data }) => this.socket === socket && this.#receive(JSON.parse(data)));
    socket.addEventListener("close", () => this.socket === socket && this.#lose());
    this.#render();
  }

  // Leaves the connection; its later events have no effect.
  #disconnect() {
    clearTimeout(this.retry);
    const { socket } = this;
    this.socket = null;
    socket?.close();
  }

  #lose() {
    this.#disconnect();
    if (this.live.link !== "closed") this.retry = setTimeout(() => this.#connect(), this.live.lose());
    this.#render();
  }

  #receive(message) {
    const { live } = this;
    const before = live.kept.draft;
    this.heardAt = performance.now();
    live.receive(message, this.heardAt);
    if (live.link === "closed") this.#disconnect();
    const field = this.$("[name=text]");
    if (live.kept.draft !== before && !field.value) field.value = live.kept.draft;
    this.#send(live.takeNext());
    if (message.type === "frame") {
      this.#renderStatus();
      this.#drawSoon();
    } else this.#render();
  }

  #send(message) {
    if (message && this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  #listen() {
    const { signal } = this.abort;
    const { root } = this;
    window.addEventListener("keydown", (event) => this.live && this.#keyDown(event), { capture: true, signal });
    window.addEventListener("keyup", ({ code, key }) => this.#release(code || key), { capture: true, signal });
    window.addEventListener("blur", () => [...(this.live?.held.keys() ?? [])].forEach((name) => this.#release(name)), { signal });
    window.addEventListener("offline", () => this.socket && this.#lose(), { signal });
    window.addEventListener("online", () => this.live?.link === "lost" && this.#connect(), { signal });
    root.addEventListener("mousedown", keepFocus, { signal });
    root.addEventListener("click", (event) => this.live && this.#click(/** @type {any} */ (event)), { signal });
    root.addEventListener("pointerdown", (event) => this.live && this.#point(/** @type {any} */ (event)), { signal });
    for (const type of ["pointerup", "pointercancel"])
      window.addEventListener(type, (event) => this.#release(`pointer ${/** @type {any} */ (event).pointerId}`), { signal });
    const field = this.$("[name=text]");
    field.addEventListener("input", () => this.live.write(field.value), { signal });
    const words = this.$("[name=say]");
    words.addEventListener("input", () => this.#say(words.value), { signal });
    this.$("form").addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.live.ask(field.value)) return;
      field.value = "";
      this.#focusWorld();
      this.#changed();
    }, { signal });
    this.$(".given").addEventListener("change", ({ target }) => {
      this.live.annotate(Number(target.closest("li").dataset.index), target.value);
      this.#changed();
    }, { signal });
  }

  #changed() {
    this.#send(this.live.takeNext());
    this.#render();
  }

  #focusWorld() {
    this.$(".live").focus({ preventScroll: true });
  }

  #keyDown(event) {
    const [target] = event.composedPath();
    const leaves = event.key === "Escape" || (event.key === "Enter" && target.name !== "text" && !event.isComposing);
    if (isTyping(target)) return void (leaves && this.root.contains(target) && this.#focusWorld());
    if (ownsKey(event, this.root)) return;
    const action = this.live.keyAction(event);
    if (!action) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.repeat) return;
    if (action.name === "move") this.#press(event.code || event.key, action.move);
    else if (action.name === "write") this.$("[name=text]").focus();
    else if (action.name === "mark") this.#mark(this.live.unmarked[0].index, action.text);
    else this.#say(action.word);
  }

  #press(name, move) {
    this.#send(this.live.press(name, move));
    this.#renderWords();
  }

  #release(name) {
    this.live?.release(name).forEach((message) => this.#send(message));
  }

  #say(word) {
    this.live.say(word);
    this.#renderWords();
  }

  #mark(index, mark) {
    this.live.mark(index, mark);
    this.#changed();
  }

  // A button of the pad is held down like a key.
  #point(event) {
    const { move } = event.target.closest("button")?.dataset ?? {};
    if (move && !event.button) this.#press(`pointer ${event.pointerId}`, move);
  }

  #click(event) {
    const button = event.target.closest("button");
    const { action, move, word, mark } = button?.dataset ?? {};
    if (move && !event.detail) {
      this.#press("button", move); // by the keyboard or a screen reader
      this.#release("button");
    } else if (word) this.#say(word);
    else if (mark) this.#mark(Number(button.closest("li").dataset.index), mark);
    else if (action === "prompt") this.live.nextPrompt(), this.#render();
    else if (action === "swap") this.#send({ type: "swap" });
    else if (action === "here") this.live.link = "connecting", this.#connect();
    else if (action === "end") this.#end(button);
    else if (action === "done") this.#finish();
    else if (action === "another") this.#finish(true);
  }

  #end(button) {
    if (this.isSure) return this.#send({ type: "end" });
    this.isSure = true;
    button.textContent = "End it now? Click again";
    setTimeout(() => {
      this.isSure = false;
      button.textContent = "End session";
    }, CONFIRM);
  }

  #finish(another = false) {
    this.#send({ type: "done" });
    this.live.finish();
    this.#disconnect();
    this.live = null;
    this.$(".room").hidden = true;
    this.$(".empty").hidden = false;
    this.tell("sync", { author: this.author, done: this.session, another });
  }

  #render() {
    const { live } = this;
    this.$(".empty").hidden = true;
    this.$(".room").hidden = false;
    this.$(".room").classList.toggle("away", live.link !== "open");
    this.$(".room").classList.toggle("over", live.ended);
    this.$("[data-action=here]").hidden = !(live.link === "closed" && live.hello);
    this.#renderStatus();
    const isReady = !!(live.hello && live.state && live.frame);
    for (const part of this.$(".room").querySelectorAll(".world, .side")) part.hidden = !isReady;
    if (!isReady) return;
    this.$(".role").textContent = `${live.hello.practice ? "Practice: " : ""}${ROLES[live.isScenario ? "scenario" : live.role] ?? ""}`;
    this.#renderTasks();
    this.#renderPrompt();
    this.#renderAsked();
    this.#renderControls();
    this.#renderWords();
    this.#drawSoon();
  }

  #renderStatus() {
    const { live } = this;
    const now = performance.now();
    setText(this.$(".status"), live.status(now));
    if (!live.frame || !live.state) return;
    setText(this.$(".clock"), live.clock);
    setText(this.$(".slow"), live.slowText);
    const left = live.link === "open" ? live.countdown(now) : 0;
    this.$(".count").hidden = !left;
    setText(this.$(".count"), `${left}`);
    if (live.isScenario) this.#renderTasks();
    const disabled = !live.canAct;
    for (const button of this.$(".pad").children) button.disabled = disabled;
  }

  #renderTasks() {
    const { live } = this;
    const [present, ...before] = [...live.tasks].reverse();
    this.$(".task").hidden = live.role === "setter" && !present;
    const shown = this.$(".instruction");
    setText(shown, present?.text ?? "No instruction yet");
    shown.classList.toggle("none", !present);
    const mark = MARK_NAMES[/** @type {any} */ (present)?.mark];
    setText(this.$(".verdict"), mark ? `Marked: ${mark.toLowerCase()}` : "");
    const list = this.$(".before");
    if (list.children.length === before.length) return;
    list.replaceChildren(...before.map(({ text }) => element("li", { textContent: text, dir: "auto" })));
  }

  #renderPrompt() {
    const { live } = this;
    const { prompt } = live;
    this.$(".ask").hidden = !live.canAsk;
    this.$(".prompt").hidden = !prompt;
    setText(this.$(".prompt p"), prompt?.text ?? "");
    setText(this.$(".kind"), prompt ? `(${prompt.kind}${prompt.difficulty ? `, ${prompt.difficulty}` : ""})` : "");
  }

  // Keeps the rows that are there, so that a note being written stays.
  #renderAsked() {
    const { live } = this;
    const list = this.$(".given ol");
    const { asked } = live;
    const [latest] = live.unmarked;
    this.$(".given").hidden = !asked.length;
    const rows = new Map([...list.children].map((row) => [row.dataset.id, row]));
    asked.forEach((one, at) => {
      const row = rows.get(one.id) ?? this.#makeRow(one);
      rows.delete(one.id);
      if (list.children[at] !== row) list.insertBefore(row, list.children[at] ?? null);
      row.dataset.index = `${one.index ?? ""}`;
      row.classList.toggle("unmarked", one.index !== null && !one.mark);
      setText(row.querySelector(".at"), `${one.step === null ? "" : `step ${one.step} · `}${one.isSaved ? "saved" : "sending ..."}`);
      row.querySelector(".marks").hidden = one.index === null;
      row.querySelector("label").hidden = !one.mark;
      for (const button of row.querySelectorAll("button")) {
        button.setAttribute("aria-pressed", `${button.dataset.mark === one.mark}`);
        button.disabled = live.link === "closed";
        button.querySelector("kbd").hidden = one.id !== latest?.id;
      }
    });
    for (const row of rows.values()) row.remove();
  }

  /** @param {LiveAsked} asked */
  #makeRow({ id, index, text }) {
    const modifier = this.live.markModifier;
    const row = element("li");
    row.dataset.id = id;
    const marks = element("div", { className: "marks", role: "group", ariaLabel: "Mark" });
    for (const [key, mark] of Object.entries(MARK_KEYS)) {
      const button = element("button", { type: "button", textContent: MARK_NAMES[mark] });
      button.dataset.mark = mark;
      button.append(element("kbd", { textContent: (modifier && `${modifier} `) + key.toUpperCase() }));
      marks.append(button);
    }
    const note = element("label");
    note.append(element("input", {
      placeholder: "Note (optional)", ariaLabel: "Note", dir: "auto", maxLength: 500, value: this.live.kept.notes[index] ?? "",
    }));
    marks.append(note);
    row.append(element("p", { className: "text", textContent: text, dir: "auto" }), element("p", { className: "at" }), marks);
    return row;
  }

  #renderControls() {
    const { live } = this;
    const { hello } = live;
    if (this.shown !== hello) {
      this.shown = hello;
      this.#renderLegend();
      const names = Object.entries(live.keys).map(([key, move]) => [move, KEY_NAMES[key] ?? key.toUpperCase()]);
      const keys = Object.fromEntries(names.reverse()); // the first key of each
      const order = live.keys === COMPASS ? Object.values(COMPASS) : hello.moves;
      this.$(".pad").replaceChildren(...order.map((move) => makeButton("move", move, keys[move])));
      this.$(".words").replaceChildren(...hello.tokens.slice(1).map((word) => makeButton("word", word)));
    }
    this.$(".acts").hidden = !live.acts || live.ended;
    this.$(".speech").hidden = hello.tokens.length === 1;
    this.$("[name=say]").hidden = !live.writes;
    this.$("[data-action=swap]").hidden = !live.canSwap;
    this.$("[data-action=end]").hidden = live.ended || live.isScenario;
    this.$("[data-action=end]").disabled = live.link !== "open";
    this.$("[data-action=done]").hidden = !live.ended;
    this.$("[data-action=another]").hidden = !live.ended || !live.isScenario;
    this.$("[data-action=done]").disabled = live.kept.unsent.length > 0;
    setText(this.$(".help"), this.#help());
  }

  #renderLegend() {
    const { player, layout } = this.live.hello;
    const own = { ...this.live.episode, judged: player === null ? [] : [layout.players[player]] };
    this.$(".legend").replaceChildren(...legendRows(own, "you", (episode, object) => this.board.symbol(episode, object)));
  }

  #help() {
    const { live } = this;
    const modifier = live.markModifier && `${live.markModifier} and `;
    if (isTouch()) return live.acts && live.hello.tokens.length > 1 && !live.ended ? "Choose a word, then an action." : "";
    const parts = [];
    if (live.canAsk) parts.push(`Press Enter to write, and ${modifier}S, F or X to mark the latest unmarked instruction.`);
    if (live.acts && live.hello.tick === null) parts.push("One key is one step.");
    if (live.acts && live.hello.tokens.length > 1) parts.push(speechHelp(live.keys, live.hello.tokens));
    return live.ended ? "" : parts.join(" ");
  }

  #renderWords() {
    const { tokens } = this.live.hello ?? {};
    if (!tokens) return;
    const word = this.live.writes ? this.live.word : tokens[this.live.word || -1];
    if (this.live.writes && !word) this.$("[name=say]").value = "";
    setText(this.$(".word"), word ? `“${word}”` : "none (silent)");
    for (const button of this.$(".words").children) button.setAttribute("aria-pressed", `${button.dataset.word === word}`);
  }

  #drawSoon() {
    if (this.isDrawing || !this.live?.frame || !this.live.state) return;
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      if (this.live?.frame) this.#draw();
    });
  }

  #draw() {
    const { live, board } = this;
    const { hello, frame } = live;
    const isScene = !!frame.view.scene && !frame.view.webp;
    const { height, width } = frame.view.webp ? frame.view : isScene ? hello.layout : { height: 1, width: 1 };
    this.$(".room").style.setProperty("--ratio", `${width / height}`);
    this.$(".room").dataset.step = `${frame.t}`;
    if (isScene) {
      board.show(live.episode, frame.t, live.bubbles, { cells: [], sight: true });
      board.describe(live.episode, frame.t);
    } else {
      if (frame.view.webp) board.film.keep([frame.view.webp]);
      board.showSight(live.sight, 0);
    }
    setText(this.$(".place"), (isScene ? "" : board.placeOf(live.sight, 0)) || live.whoText);
    setText(this.$(".last"), live.lastText);
    setText(this.$(".heard"), live.heardText && `Heard: ${live.heardText}`);
  }
}

// A live region is announced again whenever its text is set.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** @param {"move" | "word"} kind @param {string} what @param {string} [key] */
function makeButton(kind, what, key) {
  const button = element("button", { type: "button", textContent: what });
  button.dataset[kind] = what;
  if (key) button.append(element("kbd", { textContent: key }));
  return button;
}

const random = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

export default mounted("live", (root) => new LivePage(root));
