// The board: a canvas that displays one frame of an episode, or a player's view of it. Frames of pixel
// environments arrive as sprites; others are drawn by the environment's drawing module.

import { colourIn, paintFrame } from "./draw_frame.mjs";
import { placeOf, spriteOf } from "./episode.mjs";
import { Film } from "./film.mjs";
import { element, themeOf } from "./page.mjs";
import { paintBubble } from "./speech.mjs";

export class Board {
  // `drawings` are drawing modules by domain; `changed` is called when a picture was decoded or failed.
  /** @param {HTMLCanvasElement} canvas @param {{ drawings: Drawings, changed: () => void }} how */
  constructor(canvas, { drawings, changed }) {
    this.canvas = canvas;
    this.drawings = drawings;
    this.failed = new Set(); // names of drawings that threw an error
    this.film = new Film(changed);
  }

  close() {
    this.film.close();
  }

  // Returns the state of a frame's picture: "here", "coming" or "broken".
  /** @param {Episode} episode @param {number} frame @returns {Pictured} */
  pictured(episode, frame) {
    if (!episode.sprites) return this.#drawing(episode) ? "here" : "broken";
    const { webp } = spriteOf(episode.sprites, frame);
    if (this.film.bitmap(webp)) return "here";
    return this.film.isBroken(webp) ? "broken" : "coming";
  }

  // Decodes the sprites of these views: the current one at once, then the following ones.
  /** @param {Seen | null} view @param {Seen[]} soon */
  keep(view, soon = []) {
    const known = (...sprites) => sprites.filter(Boolean);
    const later = known(spriteAt(view, 1), ...soon.map((next) => spriteAt(next)));
    this.film.keep(known(spriteAt(view)), later);
  }

  // Displays a frame of an episode with the utterances `said`; those of the frame itself are
  // highlighted. `overlay` is marked by the drawing.
  /** @param {Episode} episode @param {number} frame @param {Utterance[]} said
   * @param {Overlay | null} overlay */
  show(episode, frame, said = [], overlay = null) {
    const prepared = this.#prepareCanvas(frame > episode.takeover);
    if (!prepared) return;
    const options = { ...prepared, overlay };
    if (episode.sprites) {
      if (this.#showSprite(episode, frame, options)) return;
      const broken = this.pictured(episode, frame) === "broken";
      this.#write(broken ? "This cannot be displayed." : "Loading pictures ...", options);
    } else
      this.#draw(episode, options, (drawing) => {
        const places = drawing.paint(this.canvas, episode, frame, options);
        for (const utterance of said)
          if (places?.[utterance.object])
            paintBubble(this.canvas, places[utterance.object], { ...utterance, fresh: utterance.frame === frame }, options);
      });
  }

  // Describes the frame in the accessible name of the canvas.
  /** @param {Episode} episode @param {number} frame */
  describe(episode, frame) {
    this.#label(this.#drawing(episode)?.describe?.(episode, frame) ?? `Picture: ${placeOf(episode, frame).join(", ")}`);
  }

  // Displays a player's view: frame `frame` of its views.
  /** @param {Shown} view @param {number} frame */
  showSight(view, frame) {
    const options = this.#prepareCanvas(frame > view.takeover);
    if (!options) return;
    if (view.sprites) {
      // The previous picture stays until the next one is decoded, a moment after each action.
      if (this.#showSprite(view, frame, options)) this.painted = view.session;
      else if (this.painted !== view.session) this.#write("Loading pictures ...", options);
      return this.#label("Picture of the scene");
    }
    const sight = view.frames[frame];
    this.#draw(view, options, (drawing) => {
      drawing.paintSight(this.canvas, sight, options);
      this.#label(drawing.describeSight?.(sight) ?? "Player view");
    });
  }

  // Describes where the player is; "" if the drawing does not provide it.
  /** @param {Shown} view @param {number} frame */
  placeOf(view, frame) {
    return this.#drawing(view)?.placeOf?.(view.frames[frame]) ?? "";
  }

  // Returns the symbol of an object as on the board, or a swatch of the colour in its name.
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

  // Fits the canvas to its box and returns the drawing options; null if the box is empty.
  #prepareCanvas(after) {
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
      console.error(`the drawing module of ${source.drawing} failed: ${error?.stack ?? error}`);
      this.failed.add(source.drawing);
    }
    x.restore();
    if (!this.#drawing(source)) this.#write("This cannot be displayed.", options);
  }

  #write(text, { text: colour, scale }) {
    const x = this.#clear();
    x.fillStyle = colour;
    x.font = `${15 * scale}px sans-serif`;
    x.textAlign = "center";
    x.fillText(text, this.canvas.width / 2, this.canvas.height / 2);
  }

  // Displays the picture of a frame; returns false while it is not decoded.
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

// The sprite of a view's frame, or the one `later` positions on; undefined if there is none.
/** @param {Seen | null} view */
function spriteAt(view, later = 0) {
  const sprites = view?.episode?.sprites ?? [];
  return sprites[spriteOf(sprites, view?.frame)?.at + later]?.webp;
}

// A swatch of the colour in an object's name, for pixel environments without symbols.
function swatch(name) {
  const dot = element("i", { className: "swatch", hidden: !colourIn(name) });
  dot.style.background = colourIn(name) ?? "";
  return dot;
}
