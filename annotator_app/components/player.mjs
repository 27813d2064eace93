// The page around the desk: elements, listeners, repainting and the channel to the server.

import { Desk, REASONS, SPEEDS } from "./desk.mjs";
import { colourIn, paintFrame } from "./draw_frame.mjs";
import { drawings } from "./drawings.mjs";
import { count, instructionAt, pictureOf, placeOf } from "./episode.mjs";
import { Film } from "./film.mjs";
import { KEYS, actionOf } from "./keys.mjs";
import { Outbox } from "./outbox.mjs";
import { closeConnectionDialogs, element, isTyping, keep, keepFocus } from "./page.mjs";
import { localStore, ownsKey, recall, themeOf } from "./page.mjs";
import { paintBubble } from "./speech.mjs";

const RESEND = 4000; // ms between attempts while something is unacknowledged
const LOST = 7000; // ms without an answer before the person is told
const ASK = 15000; // ms between questions for work while there is none
const RENEW = 240000; // ms between signs of life, which renew the leases
const IDLE = 120000; // ms of one pause that count as time spent, at most
const SETTINGS = "sts:settings";
const STILL = "(prefers-reduced-motion)";

class Player {
  constructor(root) {
    this.root = root;
    this.store = localStore();
    this.abort = new AbortController();
    this.beat = 0;
    this.calls = 0;
    this.sentAt = this.beatAt = this.seenAt = performance.now();
    this.unansweredSince = null;
    this.drawnEpisode = null;
    this.film = new Film(() => this.desk && this.#render());
    this.#listen();
    closeConnectionDialogs(this.abort.signal);
    this.#writeKeys();
    this.resize = new ResizeObserver(() => this.desk && this.#draw());
    this.resize.observe(this.$("canvas"));
    this.timer = setInterval(() => this.#keepInTouch(), 1000);
  }

  $(selector) {
    return this.root.querySelector(selector);
  }

  destroy() {
    this.abort.abort();
    this.resize.disconnect();
    clearInterval(this.timer);
    cancelAnimationFrame(this.frameRequest);
    this.film.close();
  }

  // Runs on mount and whenever `data` or the theme changes; returns which call it was.
  update({ data, setStateValue }) {
    this.send = setStateValue;
    if (this.namespace !== data.namespace) this.#open(data.namespace);
    this.data = data;
    if (data.acks.length) this.unansweredSince = null;
    if (!this.desk.visit) this.seenAt = performance.now(); // there was nothing to spend time on
    this.desk.receive(data, performance.now());
    if (this.calls++ === 0) {
      if (this.desk.outbox.size) this.#flush();
      if (!isTyping(document.activeElement)) this.$(".player").focus({ preventScroll: true });
    }
    this.drawnEpisode = null;
    this.#render();
    return this.calls;
  }

  #open(namespace) {
    this.namespace = namespace;
    this.desk = new Desk({
      outbox: new Outbox(this.store, namespace),
      random: (array) => crypto.getRandomValues(array), // randomUUID exists on https and localhost only
      settings: recall(this.store, SETTINGS) ?? { autoplay: !matchMedia(STILL).matches },
      ready: ({ sheets }, frame) => !sheets || this.film.bitmap(pictureOf(sheets, frame).webp) !== null,
    });
  }

  // ---- the channel

  #flush() {
    this.sentAt = this.beatAt = performance.now();
    if (this.desk.outbox.size) this.unansweredSince ??= this.sentAt;
    this.send("sync", { outbox: this.desk.outbox.all(), beat: ++this.beat });
  }

  #keepInTouch() {
    const { desk } = this;
    const now = performance.now();
    const quiet = now - this.beatAt;
    if (desk.outbox.size) {
      if (now - this.sentAt >= RESEND) this.#flush();
    } else if (!document.hidden && quiet >= (desk.visit ? RENEW : ASK)) this.#flush();
    this.#renderConnection();
  }

  get lost() {
    return this.unansweredSince !== null && performance.now() - this.unansweredSince > LOST;
  }

  // ---- what a person does

  #listen() {
    const { signal } = this.abort;
    const on = (target, type, listener, capture = false) =>
      target.addEventListener(type, listener, { signal, capture });
    on(window, "keydown", (event) => this.#key(event), true);
    on(document, "visibilitychange", () => this.#visibility());
    on(this.root, "mousedown", keepFocus);
    on(this.root, "click", (event) => {
      const button = event.target.closest("button");
      if (button?.dataset.action) this.#act({ name: button.dataset.action });
      else if (button?.dataset.reason) this.#act({ name: "reason", reason: +button.dataset.reason });
      else if (button?.dataset.frame) this.#act({ name: "seek", frame: +button.dataset.frame });
    });
    on(this.$(".scrub"), "input", (event) => this.#act({ name: "seek", frame: +event.target.value }));
  }

  #key(event) {
    if (!this.desk || event.isComposing || ownsKey(event, this.root)) return;
    const typing = isTyping(event.composedPath()[0]);
    if (typing && !["Enter", "Escape"].includes(event.key)) return;
    const action = actionOf(event);
    if (!action) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (typing) this.$(".player").focus({ preventScroll: true });
    this.#act(action);
  }

  #act(action) {
    this.#spend();
    const asked = action.name === "reason" && this.desk.reasons && action.reason === REASONS.length;
    const submitted = this.desk.act(action, performance.now());
    keep(this.store, SETTINGS, { speed: this.desk.speed, autoplay: this.desk.autoplay });
    this.#render();
    if (asked) this.$(".reasons input").focus();
    if (submitted) this.#flush();
  }

  #spend() {
    const now = performance.now();
    if (!document.hidden) this.desk.spend(Math.min(now - this.seenAt, IDLE));
    this.seenAt = now;
  }

  #visibility() {
    if (!this.desk) return;
    if (document.hidden) {
      this.desk.spend(Math.min(performance.now() - this.seenAt, IDLE));
      this.desk.playing = false;
      this.#render();
    }
    this.seenAt = performance.now();
  }

  #loop() {
    cancelAnimationFrame(this.frameRequest);
    if (!this.desk.playing) return;
    this.frameRequest = requestAnimationFrame((now) => {
      if (this.desk.tick(now)) {
        this.#spend();
        this.#render();
      } else this.#loop();
    });
  }

  // ---- what is shown

  #render() {
    const { desk } = this;
    const { visit } = desk;
    const host = this.$(".player");
    const item = visit?.episode.id ?? "";
    if (host.dataset.item !== item) host.dataset.item = item;
    host.dataset.frame = desk.frame;
    const { waiting, queue } = desk;
    const known = (...sheets) => sheets.filter(Boolean);
    const soon = known(sheetAt(visit, 1), sheetAt(waiting), sheetAt({ episode: queue[0], frame: 0 }));
    this.film.keep(known(sheetAt(visit)), soon);
    this.#renderConnection();
    this.$(".keys").hidden = !desk.help;
    this.$('[data-action="help"]').setAttribute("aria-expanded", desk.help);
    this.$(".stage").hidden = this.$(".desk").hidden = !visit;
    this.$(".empty").hidden = !!visit;
    if (!visit) return this.#renderEmpty();
    const { episode, mark } = visit;
    if (this.drawnEpisode !== episode) this.#renderEpisode(episode);
    this.#draw();
    const said = episode.utterances.filter((u) => u.frame === visit.frame);
    const [part, place] = placeOf(episode, visit.frame);
    this.$(".part").textContent = part;
    this.$(".part").className = `part ${part}`;
    this.$(".place").textContent = place;
    this.$(".said").textContent = said.map((u) => `${episode.names[u.object]} says: ${u.text}`).join(" · ");
    const text = instructionAt(episode, visit.frame);
    const instruction = this.$(".instruction");
    const wait = episode.instruction.given_at - visit.frame;
    instruction.textContent = text ?? `No instruction yet; it comes in ${count(wait, "step")}`;
    instruction.classList.toggle("none", text === null);
    const scrub = this.$(".scrub");
    scrub.value = visit.frame;
    const flag = mark?.step && visit.frame - episode.takeover === mark.step ? `; ${mark.verdict} is marked here` : "";
    scrub.setAttribute("aria-valuetext", `${part}, ${place}${flag}`);
    this.#renderControls(mark);
    this.#renderUtterances(episode, visit.frame);
    this.#loop();
  }

  #renderEpisode(episode) {
    this.drawnEpisode = episode;
    const { steps, takeover, instruction, utterances } = episode;
    this.$(".scrub").max = steps;
    this.$(".context").style.width = `${(100 * takeover) / steps}%`;
    const at = (frame, className, text = "", tag = "i") => {
      const tick = element(tag, { className, textContent: text });
      tick.style.left = `${(100 * frame) / steps}%`;
      return tick;
    };
    this.$(".ticks").replaceChildren(
      ...utterances.map((u) => at(u.frame, "utterance")),
      ...(instruction.given_at > 0 ? [at(instruction.given_at, "given", "instruction", "b")] : []),
      at(takeover, "takeover"),
      at(takeover, "name", "takeover", "b"),
      at(0, "mark", "", "b"),
    );
    const theme = themeOf(this.root.host);
    this.$(".legend").replaceChildren(...episode.names.map((name, object) => {
      const judged = episode.judged.includes(object);
      const { paintObject } = drawings.get(episode.drawing) ?? {};
      const icon = paintObject ? element("canvas", { width: 56, height: 56 }) : swatch(name);
      paintObject?.(icon, episode, object, theme);
      const label = element("span", { textContent: judged ? `${name}: judged` : name });
      const row = element("li", { className: judged ? "judged" : "" });
      row.append(icon, label);
      return row;
    }));
    this.$(".utterances ol").replaceChildren();
  }

  #renderControls(mark) {
    const { desk } = this;
    this.$(".play").textContent = desk.playing ? "Pause" : "Play";
    this.$(".speed").textContent = `${count(desk.speed, "step")}/s`;
    this.$('[data-action="slower"]').disabled = desk.speed === SPEEDS[0];
    this.$('[data-action="faster"]').disabled = desk.speed === SPEEDS.at(-1);
    this.$(".autoplay").setAttribute("aria-pressed", desk.autoplay);
    for (const button of this.root.querySelectorAll(".verdicts button"))
      button.setAttribute("aria-pressed", mark?.verdict === button.dataset.action);
    const flag = this.$(".ticks .mark");
    flag.textContent = mark?.step ? (mark.verdict === "success" ? "✓" : "✗") : "";
    const { steps, takeover } = desk.visit.episode;
    flag.style.left = `${(100 * (takeover + (mark?.step ?? 0))) / steps}%`;
    this.$(".submit").disabled = !mark || (mark.verdict === "cannot_judge" && !mark.reason);
    this.$(".submit").firstChild.textContent = desk.visit.corrects ? "Submit correction" : "Submit";
    this.$('[data-action="undo"]').disabled = !mark;
    this.$('[data-action="previous"]').disabled = !desk.history.length;
    const banner = this.$(".banner");
    banner.hidden = !desk.visit.corrects;
    banner.textContent = "Correcting an earlier answer. Esc leaves it as it was.";
    this.#renderReasons(mark);
  }

  #renderReasons(mark) {
    const box = this.$(".reasons");
    box.hidden = !this.desk.reasons;
    if (box.hidden) return box.replaceChildren();
    if (!box.children.length) {
      const key = (n) => element("kbd", { textContent: n + 1 });
      const rows = REASONS.map((text, n) => {
        const button = element("button", { type: "button" });
        button.dataset.reason = n;
        button.append(key(n), text);
        return button;
      });
      const other = element("label");
      const field = element("input", { type: "text", maxLength: 300, placeholder: "another reason" });
      field.setAttribute("aria-label", "another reason");
      field.addEventListener("input", () => this.#act({ name: "reason", reason: field.value }));
      other.append(key(REASONS.length), field);
      box.replaceChildren(...rows, other);
    }
    for (const button of box.querySelectorAll("button"))
      button.setAttribute("aria-pressed", mark.reason === REASONS[button.dataset.reason]);
    const field = box.querySelector("input");
    if (mark.reason === null || REASONS.includes(mark.reason)) field.value = "";
    else if (field !== this.root.activeElement) field.value = mark.reason;
  }

  #renderUtterances(episode, frame) {
    const list = this.$(".utterances ol");
    const heard = episode.utterances.filter((u) => u.frame <= frame);
    this.$(".utterances").hidden = !heard.length;
    if (list.children.length !== heard.length) {
      list.replaceChildren(...heard.map((u) => {
        const button = element("button", { type: "button", title: "Go to this step" });
        button.dataset.frame = u.frame;
        const after = u.frame - episode.takeover;
        button.append(element("span", { className: "at", textContent: after > 0 ? `step ${after}` : "context" }));
        button.append(`${episode.names[u.object]}: ${u.text}`);
        const row = element("li");
        row.append(button);
        return row;
      }));
      list.scrollTop = list.scrollHeight;
    }
    heard.forEach((u, i) => list.children[i].classList.toggle("now", u.frame === frame));
  }

  #draw() {
    const { visit } = this.desk;
    if (!visit) return;
    const canvas = this.$("canvas");
    const scale = devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * scale);
    const height = Math.round(canvas.clientHeight * scale);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    if (!width || !height) return;
    const { episode, frame } = visit;
    const theme = { ...themeOf(this.root.host), scale };
    if (episode.sheets) return this.#drawFrame(canvas, episode, frame, theme);
    const drawing = drawings.get(episode.drawing);
    const x = canvas.getContext("2d");
    x.setTransform(1, 0, 0, 1, 0, 0);
    x.clearRect(0, 0, width, height);
    x.save();
    const places = drawing.paint(canvas, episode, frame, { ...theme, edge: frame > episode.takeover ? theme.accent : theme.border });
    x.restore();
    const latest = new Map();
    for (const u of episode.utterances)
      if (u.frame <= frame && frame - u.frame < Math.max(1, this.desk.speed))
        latest.set(u.object, { ...u, fresh: u.frame === frame });
    for (const said of latest.values()) if (places?.[said.object]) paintBubble(canvas, places[said.object], said, theme);
    if (!this.desk.playing) canvas.setAttribute("aria-label", drawing.describe?.(episode, frame) ?? placeOf(episode, frame).join(", "));
  }

  #drawFrame(canvas, episode, frame, theme) {
    const { sheets, takeover, width, height } = episode;
    const line = frame > takeover ? theme.accent : theme.border;
    const picture = pictureOf(sheets, frame);
    const bitmap = this.film.bitmap(picture.webp);
    canvas.setAttribute("aria-busy", String(bitmap === null));
    paintFrame(canvas, bitmap, { width, height, ...picture }, line, theme);
    if (!this.desk.playing) canvas.setAttribute("aria-label", `Picture: ${placeOf(episode, frame).join(", ")}`);
  }

  #renderConnection() {
    const { desk } = this;
    const unsaved = desk.outbox.size;
    const waiting = desk.queue.length;
    const status = this.$(".status");
    const lost = this.lost && unsaved;
    const kept = desk.outbox.volatile ? "this browser keeps nothing: leave the page open" : "kept in this browser";
    const waits = `${unsaved} unsaved, ${kept}; will be sent when the connection returns`;
    const broken = this.film.isBroken(sheetAt(desk.visit));
    const trouble =
      this.data?.trouble ||
      (lost ? `Connection lost. ${waits}. Go on meanwhile.` : "") ||
      (broken ? "The pictures of this episode cannot be shown: X, a reason, Enter goes on." : "");
    const text = trouble || desk.message.text;
    if (status.textContent !== text) status.textContent = text;
    status.className = `status ${trouble ? "warning" : desk.message.tone}`;
    const done = desk.counts ? `${desk.counts.done} judged by you · ` : "";
    const progress = this.$(".progress");
    const missing = desk.counts?.broken ?? 0;
    const blank = missing ? ` · ${count(missing, "episode")} cannot be shown; tell whoever runs this study` : "";
    const kind = unsaved ? `${unsaved} unsaved` : "all saved";
    progress.textContent = `${done}${waiting} ready to follow · ${kind}${blank}`;
    progress.classList.toggle("unsaved", unsaved > 0);
    const refused = this.$(".refused");
    refused.hidden = !desk.refused.length;
    const notes = desk.refused.map(
      ({ message, text: about }) => `Not accepted: ${message}${about ? ` (“${about}”)` : ""}.`,
    );
    if (notes.length) notes.push("Esc closes this note.");
    if (refused.textContent !== notes.join(" ")) refused.textContent = notes.join(" ");
    if (!desk.visit) this.#renderEmpty();
  }

  #renderEmpty() {
    const { desk, data } = this;
    const unsaved = desk.outbox.size;
    const title = this.lost ? "Connection lost" : "Saving";
    const text = `${unsaved} unsaved, kept in this browser; will be sent when the connection returns.`;
    const empty = unsaved ? { title, text } : data.empty;
    this.$(".empty h2").textContent = empty.title;
    const back = desk.history.length ? " B goes back to your last answer." : "";
    this.$(".empty p").textContent = empty.text + back;
  }

  #writeKeys() {
    this.$(".keys dl").replaceChildren(...KEYS.map(({ show, help }) => {
      const row = element("div");
      const term = element("dt");
      term.append(element("kbd", { textContent: show }));
      row.append(term, element("dd", { textContent: help }));
      return row;
    }));
  }
}

// The sheet that shows a visit's frame, or one `later` than that; undefined where there is none.
function sheetAt(visit, later = 0) {
  const sheets = visit?.episode?.sheets ?? [];
  return sheets[pictureOf(sheets, visit?.frame)?.at + later]?.webp;
}

// What a name says about how its bearer looks, for there are no symbols in a frame.
function swatch(name) {
  const dot = element("i", { className: "swatch", hidden: !colourIn(name) });
  dot.style.background = colourIn(name) ?? "";
  return dot;
}

export default function (component) {
  const root = component.parentElement; // the same shadow root at every call while mounted
  const player = (root.player ??= new Player(root));
  const call = player.update(component);
  return () => {
    if (player.calls !== call) return; // a later call took over: not an unmount
    player.destroy();
    delete root.player;
  };
}
