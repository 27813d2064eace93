// The board: a canvas on which one frame of an episode is shown, or what somebody who acts sees then.
// Worlds that render pixels come as sprites, and are shown as they are; the others are drawn by the
// drawing that came with them.

import { colourIn, paintFrame } from "./draw_frame.mjs";
import { placeOf, spriteOf } from "./episode.mjs";
import { Film } from "./film.mjs";
import { element, themeOf } from "./page.mjs";
import { paintBubble } from "./speech.mjs";

export class Board {
  // `drawings` are worlds' own, by name; `changed` is called when a picture has come, or is broken.
  /** @param {HTMLCanvasElement} canvas @param {{ drawings: Drawings, changed: () => void }} how */
  constructor(canvas, { drawings, changed }) {
    this.canvas = canvas;
    this.drawings = drawings;
    this.failed = new Set(); // drawings that threw
    this.film = new Film(changed);
  }

  close() {
    this.film.close();
  }

  // Whether a frame's picture is "here", "coming" or "broken".
  /** @param {Episode} episode @param {number} frame @returns {Pictured} */
  pictured(episode, frame) {
    if (!episode.sprites) return this.#drawing(episode) ? "here" : "broken";
    const { webp } = spriteOf(episode.sprites, frame);
    if (this.film.bitmap(webp)) return "here";
    return this.film.isBroken(webp) ? "broken" : "coming";
  }

  // Has the sprites of these views decoded: that in view at once, then what follows it and the others.
  /** @param {Seen | null} view @param {Seen[]} soon */
  keep(view, soon = []) {
    const known = (...sprites) => sprites.filter(Boolean);
    const later = known(spriteAt(view, 1), ...soon.map((one) => spriteAt(one)));
    this.film.keep(known(spriteAt(view)), later);
  }

  // Shows a frame of an episode; `said` are utterances, of which those of the frame itself are fresh,
  // and `overlay` is what its drawing marks.
  /** @param {Episode} episode @param {number} frame @param {Utterance[]} said
   * @param {Overlay | null} overlay */
  show(episode, frame, said = [], overlay = null) {
    const begun = this.#begin(frame > episode.takeover);
    if (!begun) return;
    const options = { ...begun, overlay };
    if (episode.sprites) {
      if (this.#showSprite(episode, frame, options)) return;
      const broken = this.pictured(episode, frame) === "broken";
      this.#write(broken ? "This cannot be shown." : "The pictures are on their way ...", options);
    } else
      this.#draw(episode, options, (drawing) => {
        const places = drawing.paint(this.canvas, episode, frame, options);
        for (const one of said)
          if (places?.[one.object])
            paintBubble(this.canvas, places[one.object], { ...one, fresh: one.frame === frame }, options);
      });
  }

  // Says in words what `show` shows, for people who do not see it.
  /** @param {Episode} episode @param {number} frame */
  describe(episode, frame) {
    this.#label(this.#drawing(episode)?.describe?.(episode, frame) ?? `Picture: ${placeOf(episode, frame).join(", ")}`);
  }

  // Shows what somebody who acts sees: frame `frame` of a view of the play page.
  /** @param {Shown} view @param {number} frame */
  showSight(view, frame) {
    const options = this.#begin(frame > view.takeover);
    if (!options) return;
    if (view.sprites) {
      // While a picture is on its way the one before stays: these are moments, after each move.
      if (this.#showSprite(view, frame, options)) this.painted = view.session;
      else if (this.painted !== view.session) this.#write("The pictures are on their way ...", options);
      return this.#label("Picture of the scene");
    }
    const sight = view.frames[frame];
    this.#draw(view, options, (drawing) => {
      drawing.paintSight(this.canvas, sight, options);
      this.#label(drawing.describeSight?.(sight) ?? "What you see");
    });
  }

  // Where somebody who acts is, in words; "" where the drawing does not say.
  /** @param {Shown} view @param {number} frame */
  placeOf(view, frame) {
    return this.#drawing(view)?.placeOf?.(view.frames[frame]) ?? "";
  }

  // A symbol for each object of an episode, by its name: as on the board, or a spot of its colour.
  /** @param {Episode} episode @param {number} object */
  symbol(episode, object) {
    const { paintObject } = this.#drawing(episode) ?? {};
    if (!paintObject) return swatch(episode.names[object]);
    const canvas = element("canvas", { width: 56, height: 56 });
    paintObject(canvas, episode, object, { ...themeOf(this.canvas), scale: 2 });
    return canvas;
  }

  /** @param {{ drawing?: string | null }} source */
  #drawing({ drawing }) {
    return this.failed.has(drawing) ? null : this.drawings.get(drawing) ?? null;
  }

  // Makes the canvas as large as its place, and empty; null where it has none.
  #begin(after) {
    const { canvas } = this;
    const scale = devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * scale);
    const height = Math.round(canvas.clientHeight * scale);
    if (!width || !height) return null;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const theme = themeOf(canvas);
    return { ...theme, scale, edge: after ? theme.accent : theme.text };
  }

  #clear() {
    const x = this.canvas.getContext("2d");
    x.setTransform(1, 0, 0, 1, 0, 0);
    x.clearRect(0, 0, this.canvas.width, this.canvas.height);
    return x;
  }

  /** @param {{ drawing?: string | null }} source @param {Options} options
   * @param {(drawing: Drawing) => void} paint */
  #draw(source, options, paint) {
    const drawing = this.#drawing(source);
    this.canvas.setAttribute("aria-busy", "false");
    const x = this.#clear();
    x.save();
    try {
      if (drawing) paint(drawing);
    } catch (/** @type {any} */ error) {
      console.error(`the drawing of ${source.drawing} failed: ${error?.stack ?? error}`);
      this.failed.add(source.drawing);
    }
    x.restore();
    if (!this.#drawing(source)) this.#write("This cannot be shown.", options);
  }

  #write(text, { text: colour, scale }) {
    const x = this.#clear();
    x.fillStyle = colour;
    x.font = `${15 * scale}px sans-serif`;
    x.textAlign = "center";
    x.fillText(text, this.canvas.width / 2, this.canvas.height / 2);
  }

  // Shows the picture of a frame and returns whether it is there.
  /** @param {Pick<Shown, "sprites" | "height" | "width">} view @param {number} frame
   * @param {Options} options */
  #showSprite({ sprites, height, width }, frame, options) {
    const sprite = spriteOf(sprites, frame);
    const bitmap = this.film.bitmap(sprite.webp);
    this.canvas.setAttribute("aria-busy", String(!bitmap));
    if (!bitmap) return false;
    this.#clear();
    paintFrame(this.canvas, bitmap, { ...sprite, height, width }, options);
    return true;
  }

  #label(text) {
    if (this.canvas.getAttribute("aria-label") !== text) this.canvas.setAttribute("aria-label", text);
  }
}

/** @typedef {{ episode: Episode, frame: number }} Seen */

// The sprite that shows a view's frame, or one `later` than that; undefined where there is none.
/** @param {Seen | null} view */
function spriteAt(view, later = 0) {
  const sprites = view?.episode?.sprites ?? [];
  return sprites[spriteOf(sprites, view?.frame)?.at + later]?.webp;
}

// What a name says about how its bearer looks, for there are no symbols in a frame.
function swatch(name) {
  const dot = element("i", { className: "swatch", hidden: !colourIn(name) });
  dot.style.background = colourIn(name) ?? "";
  return dot;
}
