// State of a draft on the curation page: candidates received, current candidate and unsaved decisions.
// It is independent of the document; times are milliseconds.

import { decode } from "../../../sts/viewer/episode.mjs";
import { isTouch } from "../../../sts/viewer/keys.mjs";
import { viewOf } from "../../../sts/viewer/playback.mjs";
import { PAST, applyUnsaved, isolate, nameControl, statusOf } from "./decisions.mjs";

const MAX_DECODED = 60; // decoded candidates kept in memory
const NEAR = 4; // candidates to have loaded ahead
export const ALL = { category: "", difficulty: "", source: "", status: "" };
const FILTER_FIELDS = Object.keys(ALL);

/** @param {Listing | null} a @param {Listing} b */
const isSameFilter = (a, b) => !!a && FILTER_FIELDS.every((part) => a[part] === b[part]);

const greeting = () =>
  `Press ${nameControl("accept")} to accept, ${nameControl("reject")} to reject, ${nameControl("next")} for the next one.` +
  (isTouch() ? "" : " Press ? for all shortcuts.");

export class Passage {
  /** @type {Drafted["draft"]} */ draft = null;
  /** @type {string[]} */ drafts = [];
  /** @type {Listing | null} */ list = null; // filter; null: chosen by the server
  /** @type {string[]} */ ids = []; // by position in the list, with gaps
  /** @type {string | null} */ at = null; // the current candidate
  /** @type {number | null} */ position = null; // of the current candidate in the list; null if it is not listed
  /** @type {Map<string, Candidate & { decoded: Episode | null }>} */ candidates = new Map();
  /** @type {Map<string, Decided>} */ decided = new Map();
  /** @type {Drafted["coverage"]} */ coverage = [];
  /** @type {Line[]} */ log = [];
  /** @type {Undoable[]} */ undoable = [];
  /** @type {{ message: string, said: string }[]} */ rejections = [];
  /** @type {string | null} */ asking = null; // the kind of decision that needs a reason
  /** @type {import("./editing.mjs").Editing | null} */ editing = null;
  /** @type {Sight | null} */ sight = null; // the latest one received
  /** @type {Map<string, Passed>} */ profiles = new Map(); // by the hash of the candidate
  /** @type {Half | null} */ half = null; // other half of the current contrast pair
  /** @type {(Ghost & { decoded: Episode | null }) | null} */ ghost = null; // the latest one received
  agent = ""; // whose continuation is displayed; "" for the recording
  sees = false; // display the evaluated player's view
  /** @type {Drafted["agreement"]} */ agreement = null;
  followed = false; // the link in the page's address
  total = 0;
  near = 0; // last position in the list
  ended = false; // the last candidate of the list was decided
  /** @type {number | null} */ elsewhere = null; // undecided candidates that are not in the list
  help = false;
  guideline = false; // display the edge cases
  message = { text: greeting(), tone: "info" };

  /** @param {{ outbox: import("./outbox.mjs").Outbox, playback: import("../../../sts/viewer/playback.mjs").Playback,
   *   random: (array: Uint8Array) => Uint8Array,
   *   place?: { draft: string, list: Listing } | null }} how */
  constructor({ outbox, random, playback, place }) {
    this.outbox = outbox;
    this.random = random;
    this.playback = playback;
    playback.loops = true;
    playback.say = (text) => this.say(text);
    this.name = place?.draft ?? null; // of the requested draft
    this.list = place?.list ? { ...place.list, number: null } : null;
    this.isRestored = !!this.list; // until its candidates are received
  }

  // Draft and filter, to be restored when the page is opened again, at the first undecided candidate.
  get place() {
    return { draft: this.name, list: this.list };
  }

  // The requests in each message.
  get asks() {
    const has = [...this.candidates.values()].map(({ id, mark }) => [id, mark]);
    const sight = this.sees && !this.seen ? this.at : null;
    const ghost = this.agent && !this.preview ? { candidate: this.at, agent: this.agent } : null;
    return { ...this.place, at: this.at, has, edit: this.editing?.asks ?? null, sight, ghost };
  }

  say(text, tone = "info") {
    this.message = { text, tone };
  }

  // ---- data of the server

  /** @param {Drafted} data @param {number} now */
  receive(data, now) {
    this.#handleAcks(data.acks);
    if (data.linked && !this.followed) Object.assign(this, { followed: true, name: data.draft.name, list: null, at: data.linked });
    this.drafts = data.drafts ?? this.drafts;
    if (!data.draft) return data.trouble || this.#switchDraft(null);
    if (this.name && data.draft.name !== this.name && this.drafts.includes(this.name)) return;
    if (this.draft?.id !== data.draft.id) this.#switchDraft(data.draft);
    for (const one of data.states) this.decided.set(one.id, one);
    for (const one of data.candidates) this.#storeCandidate(one);
    Object.assign(this, { coverage: data.coverage, log: data.log, undoable: data.undoable, agreement: data.agreement });
    if (!this.list || isSameFilter(this.list, data.list)) this.#receiveList(data);
    if (data.edit) this.editing?.receive(data.edit);
    this.sight = data.sight ?? this.sight;
    for (const one of data.passed ?? []) this.profiles.set(one.mark, one);
    if (data.half === null || data.half?.of === this.at) this.half = data.half;
    if (data.ghost) this.#receivePreview(data.ghost);
    this.show(now);
  }

  /** @param {Ghost} ghost */
  #receivePreview(ghost) {
    this.ghost = { ...ghost, decoded: ghost.episode && decode(ghost.episode) };
    if (ghost.broken) this.say(`This continuation cannot be displayed: ${ghost.broken}`, "warning");
  }

  /** @param {Drafted["draft"]} draft */
  #switchDraft(draft) {
    const another = this.name !== (draft?.name ?? null);
    Object.assign(this, { draft, ids: [], candidates: new Map(), decided: new Map(), asking: null, editing: null });
    if (another) Object.assign(this, { list: null, at: null });
    this.name = draft?.name ?? null;
    if (!draft) this.playback.open(null, 0);
  }

  /** @param {Ack[]} acks */
  #handleAcks(acks) {
    const sent = new Map(this.outbox.all().map((one) => [one.uuid, one]));
    for (const { uuid: which, status, message } of this.outbox.settle(acks)) {
      if (status !== "rejected") continue;
      const { kind, candidate, reason, said: what } = sent.get(which);
      const said = `${PAST[kind].toLowerCase()} ${candidate}${reason || what ? `, “${isolate(reason || what)}”` : ""}`;
      this.rejections.push({ message, said });
      this.say(`Not saved: ${said}.`, "warning");
    }
  }

  /** @param {Candidate} one */
  #storeCandidate(one) {
    let decoded = null;
    try {
      decoded = one.broken ? null : decode(one.episode);
    } catch (/** @type {any} */ error) {
      one.broken = error.message;
    }
    this.candidates.delete(one.id); // move it to the end
    this.candidates.set(one.id, { ...one, decoded });
    for (const id of this.candidates.keys())
      if (this.candidates.size > MAX_DECODED && id !== this.at) this.candidates.delete(id);
  }

  /** @param {Drafted} data */
  #receiveList(data) {
    // A restored list in which nothing is left gives way to that of all undecided candidates.
    if (this.isRestored && !data.total && data.elsewhere) return void (this.list = null);
    this.isRestored = false;
    if (data.total !== this.total) this.ids = [];
    this.list = data.list;
    this.total = data.total;
    this.elsewhere = data.elsewhere ?? null;
    data.ids.forEach((id, i) => (this.ids[data.first + i] = id));
    this.at ??= data.at;
    if (this.at === data.at) this.position = data.position;
    else if (this.position === null || this.ids[this.position] !== this.at) this.position = this.placeOf(this.at);
    this.near = this.position ?? this.near;
  }

  /** @param {string | null} id */
  placeOf(id) {
    const found = id === null ? -1 : this.ids.indexOf(id);
    return found < 0 ? null : found;
  }

  // ---- current candidate

  get candidate() {
    return this.candidates.get(this.at) ?? null;
  }

  /** @param {number} now */
  show(now) {
    const shown = this.preview?.decoded ?? this.candidate?.decoded ?? null;
    const episode = this.editing ? this.editing.whole ?? this.playback.view?.episode : shown;
    const { view } = this.playback;
    if (view?.episode === episode) return;
    const same = view && view.episode.id === episode?.id;
    const frame = same ? Math.min(Math.max(0, view.frame + this.#frameOffset(view.episode, episode)), episode.steps) : 0;
    const was = this.playback.playing;
    this.playback.open(episode && viewOf(episode, frame), now);
    if (frame && was) this.playback.play(now);
  }

  // True during second ratings, when the decisions of others are hidden.
  get blind() {
    return this.list?.status === "second";
  }

  // The curator's second rating of a candidate, saved or not: "yes", "no" or "".
  /** @param {string} id */
  ratingOf(id) {
    let word = this.decided.get(id)?.rating ?? "";
    for (const one of this.outbox.all())
      if (one.candidate === id && one.kind === "rating") word = one.rating;
      else if (one.candidate === id && one.about === "rating") word = "";
    return word;
  }

  // Offset from a frame of one episode to the same moment in the other: trajectory or candidate.
  /** @param {Episode} from @param {Episode} to */
  #frameOffset(from, to) {
    if (from.steps === to.steps) return 0;
    const whole = this.editing?.whole;
    const begins = this.candidate.takeover - this.candidate.context;
    return to === whole ? begins : from.steps > to.steps ? -begins : 0;
  }

  // The selected agent's continuation, if it has been received.
  get preview() {
    const { ghost, candidate, agent } = this;
    return agent && ghost?.agent === agent && ghost.id === candidate?.id && ghost.mark === candidate.mark ? ghost : null;
  }

  // Pass counts of the agents for the current candidate; null until they are received.
  get passed() {
    return this.profiles.get(this.candidate?.mark)?.passed ?? null;
  }

  // The evaluated player's view, if it is selected and has been received.
  get seen() {
    const { sight, candidate } = this;
    return this.sees && sight && sight.id === candidate?.id && sight.mark === candidate.mark ? sight : null;
  }

  // The neighbours in the list, to be decoded ahead of time.
  get soon() {
    const near = [this.near + 1, this.near - 1].map((i) => this.candidates.get(this.ids[i])?.decoded);
    return near.filter(Boolean).map((episode) => ({ episode, frame: 0 }));
  }

  // True if candidates near the current one have not been received.
  get lacks() {
    const wanted = this.ids.slice(Math.max(0, this.near - 1), this.near + NEAR + 1);
    const named = Math.min(this.total, this.near + NEAR + 1) - Math.max(0, this.near - 1);
    return wanted.length < named || wanted.some((id) => id === undefined || !this.candidates.has(id));
  }

  // The status of a candidate, including unsaved decisions.
  /** @param {string} id @returns {Status | null} */
  statusOf(id) {
    const known = this.decided.get(id);
    if (!known) return null;
    const waiting = this.outbox.all().filter((one) => one.candidate === id);
    return statusOf(applyUnsaved(known, waiting));
  }
}
