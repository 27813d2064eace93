// Sprites of episodes, decoded ahead of time. A sprite is one WebP picture of many frames.

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

  // Decodes the sprites in view at once and those needed soon after a delay, so that painting is not
  // held up; releases all others, since a decoded sprite may take 64 MB.
  /** @param {string[]} inView @param {string[]} soon */
  keep(inView, soon = []) {
    const wanted = [...inView, ...soon];
    if (wanted.length === this.wanted.length && wanted.every((text, i) => text === this.wanted[i])) return;
    this.wanted = wanted;
    for (const text of inView) this.#decode(text);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#update(wanted), this.later);
  }

  /** @param {string[]} wanted */
  #update(wanted) {
    for (const [text, bitmap] of this.#sprites)
      if (!wanted.includes(text)) {
        this.#sprites.delete(text);
        release(bitmap);
      }
    wanted.forEach((text) => this.#decode(text));
  }

  /** @param {string} text */
  #decode(text) {
    if (this.#sprites.has(text)) return;
    this.#sprites.set(text, "coming");
    this.decode(text).then((bitmap) => this.#arrived(text, bitmap), () => this.#arrived(text, "broken"));
  }

  close() {
    clearTimeout(this.timer);
    this.#update([]);
  }

  /** @param {string} text @param {ImageBitmap | "broken"} bitmap */
  #arrived(text, bitmap) {
    // No longer needed, or decoded by a later request in the meantime.
    if (!this.#sprites.has(text) || this.bitmap(text)) return release(bitmap);
    this.#sprites.set(text, bitmap);
    this.changed();
  }

  // The bitmap of a sprite, or null before it is decoded.
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
const release = (bitmap) => bitmap.close?.();
/** @param {string} text */
const bitmapOf = async (text) => {
  const letters = atob(text);
  const raw = new Uint8Array(letters.length);
  for (let i = 0; i < raw.length; i++) raw[i] = letters.charCodeAt(i);
  return createImageBitmap(new Blob([raw], { type: "image/webp" }));
};
