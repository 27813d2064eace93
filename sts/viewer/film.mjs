// Pictures of episodes, decoded before somebody waits for them. A sprite is one WebP of many frames.

export class Film {
  /** @type {Map<string, ImageBitmap | "coming" | "broken">} */
  #sprites = new Map(); // by its text

  /** @param {() => void} changed */
  constructor(changed, decode = bitmapOf, later = LATER) {
    this.changed = changed;
    this.decode = decode;
    this.later = later;
    /** @type {string[]} */
    this.wanted = [];
  }

  // Decodes what is in view at once and what comes soon a little later, so as not to be in the way
  // of what is being painted; lets go of all others, for a decoded sprite may take 64 MB.
  /** @param {string[]} inView @param {string[]} soon */
  keep(inView, soon = []) {
    const wanted = [...inView, ...soon];
    if (wanted.length === this.wanted.length && wanted.every((text, i) => text === this.wanted[i])) return;
    this.wanted = wanted;
    for (const text of inView) this.#begin(text);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#settle(wanted), this.later);
  }

  /** @param {string[]} wanted */
  #settle(wanted) {
    for (const [text, bitmap] of this.#sprites)
      if (!wanted.includes(text)) {
        this.#sprites.delete(text);
        letGo(bitmap);
      }
    wanted.forEach((text) => this.#begin(text));
  }

  /** @param {string} text */
  #begin(text) {
    if (this.#sprites.has(text)) return;
    this.#sprites.set(text, "coming");
    this.decode(text).then((bitmap) => this.#arrived(text, bitmap), () => this.#arrived(text, "broken"));
  }

  close() {
    clearTimeout(this.timer);
    this.#settle([]);
  }

  /** @param {string} text @param {ImageBitmap | "broken"} bitmap */
  #arrived(text, bitmap) {
    // Nobody wants it by now; or it was dropped and wanted again, and the other one came first.
    if (!this.#sprites.has(text) || this.bitmap(text)) return letGo(bitmap);
    this.#sprites.set(text, bitmap);
    this.changed();
  }

  // The bitmap of a sprite, or null while there is none.
  /** @param {string} text */
  bitmap(text) {
    const found = this.#sprites.get(text);
    return typeof found === "object" ? found : null;
  }

  /** @param {string} text */
  isBroken(text) {
    return this.#sprites.get(text) === "broken";
  }
}

const LATER = 60; // ms
/** @param {any} bitmap */
const letGo = (bitmap) => bitmap.close?.();
/** @param {string} text */
const bitmapOf = async (text) => {
  const letters = atob(text);
  const raw = new Uint8Array(letters.length);
  for (let i = 0; i < raw.length; i++) raw[i] = letters.charCodeAt(i);
  return createImageBitmap(new Blob([raw], { type: "image/webp" }));
};
