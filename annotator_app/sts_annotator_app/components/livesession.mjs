// A person's side of a live session, independent of the page: what the server sent, what it has yet
// to save, and the keys.

import { count } from "../../../sts/viewer/episode.mjs";
import { keep, recall } from "./browser.mjs";
import { layoutOf, turnAction } from "./controls.mjs";
import { readKey } from "../../../sts/viewer/keys.mjs";

/** @type {Record<string, string>} */
export const MARK_KEYS = { s: "success", f: "failure", x: "cannot_tell" };
export const MARK_NAMES = { success: "Success", failure: "Failure", cannot_tell: "Cannot tell" };
const RETRIES = [500, 8000]; // ms before the first and before later attempts to connect again
const SCENES = 8; // scenes that are kept to draw trails and speech bubbles
const HEARD = 4; // words that are displayed
const LOST = "The connection is lost. Trying to connect again; what you wrote is kept.";
const OTHER = "Another person signed in on this browser. Open your own invitation link to continue.";
const UNKEPT = "Your browser blocks local storage. Keep this page open until the end.";
const ENDED = {
  left: "The session has ended because a person did not come back.",
  "agent failed": "The session has ended because the agent stopped working.",
};
const PLAYED = { finished: "Finished, thank you. Others will judge this without knowing that it was you." };

export class LiveSession {
  /** @type {"connecting" | "open" | "lost" | "closed" | "done"} */ link = "connecting";
  /** @type {LiveHello} */ hello = null;
  /** @type {LiveFrame} */ frame = null;
  /** @type {LiveState} */ state = null;
  /** @type {Record<string, string>} */ keys = {};
  /** @type {Map<string, number>} */ held = new Map(); // moves by the key or button that is down
  /** @type {Map<number, number[]>} */ scenes = new Map();
  /** @type {{ step: number, text: string, player?: number }[]} */ heard = [];
  /** @type {string | null} */ sending = null; // the key of the message that has yet to be answered
  notice = ""; // of the server, until the next connection
  refusal = ""; // of the server, until the next attempt
  tries = 0;
  /** @type {number | string} */ word = 0; // of the next move: a token, or a text
  startsAt = 0;
  isKept = true;

  /** @param {{ storage: Kept, namespace: string, session: string, random: () => string,
   *   prompts?: LiveData["prompts"], completions?: string[] }} how */
  constructor({ storage, namespace, session, random, prompts = [], completions = [] }) {
    this.storage = storage;
    this.random = random;
    this.prompts = prompts;
    this.completions = completions;
    this.name = `sts:live:${namespace}:${session}`;
    // Messages that are not saved yet, notes by instruction, the number of the prompt, a text that is
    // not sent yet, and which participant all this belongs to.
    this.kept = { unsent: [], notes: {}, prompt: 0, draft: "", me: -1, ...recall(storage, this.name) };
  }

  // Handles a message of the server at a time in ms.
  /** @param {any} message @param {number} now */
  receive(message, now) {
    const { type } = message;
    if (this.link === "closed") return;
    if (type === "hello") this.#enter(message);
    else if (type === "frame") this.#show(message);
    else if (type === "state") this.#update(message);
    else if (type === "countdown") this.startsAt = now + 1000 * message.seconds;
    else if (type === "saved" || type === "refused") this.#answer(message);
    else if (["closed", "stopped", "ended"].includes(type)) this.notice = message.text;
    if (type === "closed") this.link = "closed";
  }

  /** @param {LiveHello} hello */
  #enter(hello) {
    this.kept = { ...this.kept, ...recall(this.storage, this.name) }; // another tab may have changed it
    if (![-1, hello.me].includes(this.kept.me)) return void Object.assign(this, { link: "closed", notice: OTHER });
    const named = Object.entries(hello.keys).map(([key, move]) => [lower(key), move]);
    this.keys = named.length ? Object.fromEntries(named) : layoutOf(hello.moves);
    Object.assign(this, { hello, link: "open", notice: "", refusal: "", sending: null, tries: 0, startsAt: 0 });
    this.held.clear();
    this.scenes.clear();
    this.#keep({ me: hello.me });
  }

  /** @param {LiveFrame} frame */
  #show(frame) {
    if (frame.t > (this.frame?.t ?? 0)) this.startsAt = 0;
    const isNew = frame.t !== this.frame?.t;
    this.frame = frame;
    if (frame.view.scene) this.scenes.set(frame.t, frame.view.scene);
    this.scenes.delete(frame.t - SCENES);
    if (!isNew) return;
    const said = frame.said.map(([player, text]) => ({ step: frame.t, text, player }));
    const words = Object.entries(frame.view.heard ?? {}).map(([text, n]) => ({ step: frame.t, text: n > 1 ? `${text} (${n} times)` : text }));
    this.heard = [...this.heard, ...said, ...words].slice(-4 * HEARD);
  }

  /** @param {LiveState} state */
  #update(state) {
    this.state = state;
    const saved = state.told.filter(({ by }) => by === this.hello.me).map(({ key }) => key);
    this.#keep({ unsent: this.kept.unsent.filter(({ type, key }) => type !== "tell" || !saved.includes(key)) });
  }

  #answer({ type, key, text }) {
    if (type === "refused") {
      this.refusal = text;
      const tell = this.kept.unsent.find((sent) => sent.key === key && sent.type === "tell");
      if (tell && !this.kept.draft) this.#keep({ draft: tell.text }); // back to the field
    }
    if (!key) return;
    this.#keep({ unsent: this.kept.unsent.filter((sent) => sent.key !== key) });
    if (this.sending === key) this.sending = null;
  }

  // Notes that the connection was lost; returns the ms after which to try again.
  lose() {
    this.link = "lost";
    this.held.clear();
    return Math.min(RETRIES[1], RETRIES[0] * 2 ** this.tries++);
  }

  #keep(changes) {
    Object.assign(this.kept, changes);
    this.isKept = keep(this.storage, this.name, this.kept);
  }

  // Forgets what was kept, once the person is done.
  finish() {
    this.link = "done";
    this.storage.removeItem(this.name);
  }

  get isScenario() {
    return this.hello?.activity === "scenario";
  }

  get ended() {
    return !!this.state?.ended;
  }

  get role() {
    return this.state?.roles[this.hello.me] ?? "";
  }

  get acts() {
    return this.hello?.player != null && this.hello.moves.length > 0;
  }

  // True if a key or button takes effect.
  get canAct() {
    return this.acts && this.link === "open" && !!this.state && !this.ended && !this.missing && !this.frame?.watch;
  }

  // True if this person may give instructions; without a connection they are sent later.
  get canAsk() {
    const others = this.state?.kinds.some((kind, i) => i !== this.hello.me && kind !== "empty");
    return !!others && !this.ended && this.link !== "closed" && !this.isScenario && this.role !== "solver";
  }

  get canSwap() {
    if (!this.state || this.ended || this.link !== "open") return false;
    const able = (i) => this.state.kinds[i] === "person" && this.hello.players[i] !== null;
    const swapped = [...this.state.roles.entries()].filter(([, role]) => role !== "player");
    return swapped.map(([, role]) => role).sort().join() === "setter,solver" && swapped.every(([i]) => able(i));
  }

  // The number of people that the clock waits for.
  get missing() {
    const { kinds = [], here = [] } = this.state ?? {};
    return kinds.filter((kind, i) => kind === "person" && !here.includes(i)).length;
  }

  // The instructions for this person since roles were swapped, the present one last.
  get tasks() {
    if (!this.state) return [];
    if (this.isScenario) return this.hello.instructions.filter(({ step }) => step <= this.frame.t);
    return this.state.told.slice(this.state.swapped).filter(({ by }) => by !== this.hello.me);
  }

  // The instructions that this person gave, newest first; after the end, unmarked ones before others.
  /** @returns {LiveAsked[]} */
  get asked() {
    if (!this.state) return [];
    const unsaved = this.kept.unsent.filter(({ type }) => type === "tell");
    const waiting = unsaved.map(({ key, text }) => ({ id: key, index: null, text, step: null, mark: "", isSaved: false }));
    const saved = this.state.told.flatMap(({ text, step, by, mark, key }, index) => {
      const later = this.#unsavedMark(index);
      const asked = { id: key || `${index}`, index, text, step, mark: later?.mark ?? mark, isSaved: !later };
      return by === this.hello.me ? [asked] : [];
    });
    const all = [...saved, ...waiting].reverse();
    return this.ended ? all.sort((a, b) => Number(!!a.mark) - Number(!!b.mark)) : all;
  }

  get unmarked() {
    return this.asked.filter(({ index, mark }) => index !== null && !mark);
  }

  #unsavedMark(index) {
    return this.kept.unsent.find(({ type, instruction }) => type === "mark" && instruction === index);
  }

  get prompt() {
    return this.prompts.length ? this.prompts[this.kept.prompt % this.prompts.length] : null;
  }

  nextPrompt() {
    this.#keep({ prompt: this.kept.prompt + 1 });
  }

  // Keeps a text that is being written.
  write(draft) {
    this.#keep({ draft });
  }

  // Gives an instruction; returns false if there is none.
  /** @param {string} words */
  ask(words) {
    const text = words.trim();
    if (!text || !this.canAsk) return false;
    const typed = this.completions.includes(text) ? "completion" : "free";
    const message = { type: "tell", text, prompt: this.prompt?.text ?? "", typed, key: this.random() };
    this.refusal = "";
    this.#keep({ unsent: [...this.kept.unsent, message], draft: "", prompt: this.kept.prompt + 1 });
    return true;
  }

  /** @param {number} index @param {string} mark */
  mark(index, mark) {
    this.refusal = "";
    const others = this.kept.unsent.filter((sent) => sent !== this.#unsavedMark(index));
    const note = this.kept.notes[index] ?? "";
    this.#keep({ unsent: [...others, { type: "mark", instruction: index, mark, note, key: this.random() }] });
  }

  // Keeps a note, and saves it with the mark of its instruction.
  /** @param {number} index @param {string} note */
  annotate(index, note) {
    this.#keep({ notes: { ...this.kept.notes, [index]: note.trim() } });
    const { mark } = this.asked.find((asked) => asked.index === index);
    if (mark) this.mark(index, mark);
  }

  // Returns the next message to send, or null; each waits for the answer to the one before it.
  takeNext() {
    if (this.link !== "open" || this.sending || !this.kept.unsent.length) return null;
    this.sending = this.kept.unsent[0].key;
    return this.kept.unsent[0];
  }

  // The modifier of the keys that mark: none if these keys move nothing.
  get markModifier() {
    const moves = this.acts ? Object.keys(MARK_KEYS).flatMap((key) => this.keys[key] ?? []) : [];
    if (!moves.length) return "";
    return moves.some((move) => this.hello.tokens.includes(move)) ? "Alt" : "Shift";
  }

  // Returns the action of a key press outside of fields, or null.
  /** @param {KeyboardEvent} event @returns {Action | null} */
  keyAction({ key, code = "", shiftKey, ctrlKey, metaKey, altKey }) {
    if (!this.hello || this.link === "closed" || ctrlKey || metaKey) return null;
    const letters = readKey({ key, code, shiftKey });
    const modifier = altKey ? "Alt" : shiftKey ? "Shift" : "";
    const mark = [...letters, altKey ? code.replace("Key", "").toLowerCase() : ""].map((name) => MARK_KEYS[name]).find(Boolean);
    if (mark && modifier === this.markModifier && this.unmarked.length) return { name: "mark", text: mark };
    if (altKey) return null;
    if (letters.includes("Enter")) return this.canAsk ? { name: "write" } : null;
    if (!this.acts) return null;
    return turnAction({ key, code, shiftKey }, this.keys, this.hello.tokens);
  }

  // True if words are texts instead of tokens.
  get writes() {
    return !this.hello?.tokens.length;
  }

  // Chooses the word of the next move; the same word again, or an unknown one, clears it.
  /** @param {string} [word] */
  say(word) {
    if (this.writes) return void (this.word = word?.trim() || 0);
    const index = this.hello.tokens.indexOf(word);
    this.word = index > 0 && index !== this.word ? index : 0;
  }

  // Presses a key or button; returns the message, or null if it was down or has no effect.
  /** @param {string} name @param {string} move */
  press(name, move) {
    const index = this.hello.moves.indexOf(move);
    if (this.held.has(name) || !this.canAct || index < 0) return null;
    this.held.set(name, index);
    const message = { type: "press", move: index, ...(this.word ? { say: this.word } : {}) };
    this.word = 0;
    this.refusal = "";
    return message;
  }

  // Releases a key or button; returns the messages. A key that is still down takes effect again.
  /** @param {string} name */
  release(name) {
    const move = this.held.get(name);
    this.held.delete(name);
    if (move === undefined || this.link !== "open") return [];
    const last = [...this.held.values()].at(-1);
    const again = last !== undefined && this.hello.repeats ? [{ type: "press", move: last }] : [];
    return [{ type: "release", move }, ...again];
  }

  // Returns the seconds of the countdown that remain, rounded up.
  /** @param {number} now */
  countdown(now) {
    return this.missing || this.ended ? 0 : Math.max(0, Math.ceil((this.startsAt - now) / 1000));
  }

  // Returns one sentence or two for the person, or "".
  /** @param {number} now */
  status(now) {
    if (this.link === "closed") return this.notice;
    if (this.link === "lost") return LOST;
    if (this.link === "connecting" || !this.state) return "Connecting ...";
    if (this.refusal || (this.notice && !this.ended)) return this.refusal || this.notice;
    const reason = this.notice || (this.isScenario && PLAYED[this.state.ended]) || ENDED[this.state.ended] || "The session has ended.";
    const { length } = this.unmarked;
    if (this.ended) return length ? `${reason} Mark ${count(length, "instruction")} before you leave.` : reason;
    if (this.missing) return this.missing > 1 ? "Waiting for the other people." : "Waiting for the other person.";
    if (this.countdown(now)) return `Get ready: ${this.isScenario && this.frame.t ? "your turn" : "the session"} starts in a moment.`;
    if (this.frame.watch) return "Watch what happened before; your turn comes next.";
    return this.isKept ? "" : UNKEPT;
  }

  get clock() {
    const { tick, max_steps: last, takeover } = this.hello;
    if (this.frame.t < takeover) return `${count(takeover - this.frame.t, "step")} to your turn`;
    if (this.isScenario) return `step ${this.frame.t - takeover} of ${last - takeover}`;
    const steps = `step ${this.frame.t} of ${last}`;
    if (!tick || this.ended) return steps;
    const left = Math.ceil((last - this.frame.t) * tick);
    return `${Math.floor(left / 60)}:${`${left % 60}`.padStart(2, "0")} left · ${steps}`;
  }

  get slowText() {
    if (!this.frame.slow || this.ended) return "";
    return this.state.kinds.includes("agent") ? "The agent is slow." : "The server is slow.";
  }

  // The names of those who act on this person's instructions: the solvers, or all others.
  get solvers() {
    const { layout, players, me } = this.hello;
    const { roles } = this.state;
    const acts = (i) => (roles.includes("solver") ? roles[i] === "solver" : i !== me);
    return players.filter((player, i) => player !== null && acts(i)).map((player) => layout.names[layout.players[player]]);
  }

  // Who this person is in the world, and who acts on their instructions.
  get whoText() {
    const { layout, player } = this.hello;
    const you = player === null ? [] : [`You are: ${layout.names[layout.players[player]]}`];
    const others = this.role === "setter" ? [`Acts on your instructions: ${this.solvers.join(", ")}`] : [];
    return [...you, ...others].join(" · ");
  }

  // The last words that were said within sight, as text.
  get heardText() {
    const { layout } = this.hello;
    const speaker = (player) => (player === undefined ? "" : `${layout.names[layout.players[player]]}: `);
    return this.heard.slice(-HEARD).reverse().map(({ step, text, player }) => `${speaker(player)}${text} (step ${step})`).join(", ");
  }

  // The reward and action of the last step, "" for a person without a player.
  get lastText() {
    const { last_reward: reward, last_move: move } = this.frame.view;
    if (reward === undefined) return "";
    return `Last reward ${reward > 0 ? "+" : ""}${`${reward}`.replace("-", "−")}${move ? ` · last action ${move}` : ""}`;
  }

  // What `Board.showSight` displays: what the player sees, or a picture.
  /** @returns {any} */
  get sight() {
    const { view, watch } = this.frame;
    const { session, drawing } = this.hello;
    const sprites = view.webp ? [{ webp: view.webp, columns: 1, count: 1 }] : null;
    return { session, drawing, sprites, height: view.height, width: view.width, frames: [view], takeover: watch ? 0 : -1 };
  }

  // What `Board.show` displays to a person without a player: an episode up to now.
  /** @returns {any} */
  get episode() {
    const { layout, drawing, session } = this.hello;
    const judged = this.solvers.map((name) => layout.names.indexOf(name));
    const scene = (frame) => this.scenes.get(frame) ?? this.frame.view.scene;
    return { ...layout, id: session, drawing, judged, takeover: Infinity, scene, sprites: null };
  }

  // The latest words of the speakers, for speech bubbles.
  get bubbles() {
    const { layout } = this.hello;
    const recent = this.heard.filter(({ step, player }) => player !== undefined && step > this.frame.t - SCENES);
    return [...new Map(recent.map((said) => [said.player, said])).values()].map(({ step, text, player }) => ({
      frame: step, object: layout.players[player], text,
    }));
  }
}

const lower = (key) => (key.length === 1 ? key.toLowerCase() : key);
