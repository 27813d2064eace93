// A small episode and a session on a storage that lasts as long as a test.

import test from "node:test";
import { Outbox } from "../../../annotator_app/sts_annotator_app/components/outbox.mjs";
import { Playback } from "../../../sts/viewer/playback.mjs";
import { Session } from "../../../annotator_app/sts_annotator_app/components/session.mjs";
import { Visits } from "../../../annotator_app/sts_annotator_app/components/visits.mjs";

const base64 = (array) => Buffer.from(array.buffer).toString("base64");

export function payload(id, { takeover = 4, horizon = 6, says = {}, givenAt = 0 } = {}) {
  const steps = takeover + horizon;
  const scene = new Uint16Array((steps + 1) * 3);
  for (let frame = 0; frame <= steps; frame++) scene.set([7, 300, frame % 20], frame * 3);
  const said = new Uint8Array(steps);
  for (const [step, token] of Object.entries(says)) said[step] = token;
  return {
    id, drawing: "grid", height: 20, width: 20, names: ["Good", "Evil", "A"], glyphs: ["G", "E", "A"],
    judged: [2], details: {}, steps, takeover, horizon, scene: base64(scene), says: base64(said),
    tokens: ["", "yes", "no"], instructions: [{ text: "go", given_at: givenAt }],
  };
}

// The same episode seen as frames: no cells, but two sprites.
export function filmed(id, options) {
  const { scene, ...rest } = payload(id, options);
  const sprites = [{ webp: id, columns: 3, count: 7 }, { webp: `${id} ends`, columns: 3, count: rest.steps - 6 }];
  return { ...rest, drawing: null, names: ["blue", "red"], judged: [0], sprites };
}

export class Storage {
  entries = new Map();
  full = false;
  get length() { return this.entries.size; }
  key(i) { return [...this.entries.keys()][i]; }
  getItem(key) { return this.entries.get(key) ?? null; }
  removeItem(key) { this.entries.delete(key); }
  setItem(key, value) {
    if (this.full) throw new Error("quota");
    this.entries.set(key, value);
  }
}

// What names a key, and so is of no use on a touch screen.
export const NAMES_KEY = /\b(Space|Enter|Esc|keys?|1 to \d)\b|ress [A-Z?]\b/;

export const testOnTouchScreen = (name, work) =>
  test(name, () => {
    globalThis.matchMedia = (query) => ({ matches: query === "(hover: none) and (pointer: coarse)" });
    try {
      work();
    } finally {
      delete globalThis.matchMedia;
    }
  });

let drawn = 0;
export const random = (array) => array.fill(++drawn % 256).fill(drawn >> 8, 0, 1);

export function session({
  storage = new Storage(), settings = { autoplay: false }, ids = ["one", "two", "three"], pictured, ...options
} = {}) {
  const playback = new Playback({ settings, pictured });
  const made = new Session({ outbox: new Outbox(storage, "place:1"), visits: new Visits(storage, "place:1"), random, playback });
  made.receive({ acks: [], queue: ids.map((id) => payload(id, options)), counts: { done: 0 } }, 0);
  return made;
}

export const press = (session, ...names) =>
  names.forEach((name) => session.act(typeof name === "string" ? { name } : name, 0));
