// Paints one frame of a sprite on an empty canvas, as large as fits.

import { element } from "./page.mjs";

// Rounds the scale down to an integer if the picture loses at most a fifth of its size. Otherwise the
// picture is enlarged too much first and then shrunk, so that all pixels look alike.
function snapScale(scale) {
  const whole = Math.floor(scale);
  return scale < 1.25 * whole ? whole : scale;
}

function enlarge(bitmap, left, top, width, height, times) {
  const large = element("canvas", { width: width * times, height: height * times });
  const x = large.getContext("2d");
  x.imageSmoothingEnabled = false;
  x.drawImage(bitmap, left, top, width, height, 0, 0, large.width, large.height);
  return large;
}

export function paintFrame(canvas, bitmap, { width, height, columns, index }, options) {
  const x = canvas.getContext("2d");
  const edge = 2 * options.scale;
  const scale = snapScale(Math.min((canvas.width - 2 * edge) / width, (canvas.height - 2 * edge) / height));
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  const [left, top] = [Math.floor((canvas.width - wide) / 2), Math.floor((canvas.height - high) / 2)];
  x.imageSmoothingEnabled = !Number.isInteger(scale);
  x.imageSmoothingQuality = "high";
  const at = [(index % columns) * width, Math.floor(index / columns) * height, width, height];
  if (scale > 1 && !Number.isInteger(scale)) {
    const large = enlarge(bitmap, ...at, Math.ceil(scale));
    x.drawImage(large, left, top, wide, high);
  } else x.drawImage(bitmap, ...at, left, top, wide, high);
  x.strokeStyle = options.edge;
  x.lineWidth = edge;
  x.strokeRect(left - edge / 2, top - edge / 2, wide + edge, high + edge);
}

// The colour in a name, such as "blue hat"; null if there is none. The colours are close to those of
// environments, and distinguishable on light and dark pages.
export const colourIn = (name) => COLOUR_OF[name.toLowerCase().match(NAMED)?.[0]] ?? null;
const COLOUR_OF = {
  red: "#F03030", orange: "#E69F00", yellow: "#F0E442", green: "#009E73", blue: "#0072B2", purple: "#8A50C8",
  pink: "#E878B0", brown: "#8A5A2B", black: "#000000", white: "#FFFFFF", grey: "#888888", gray: "#888888",
};
const NAMED = new RegExp(`\\b(${Object.keys(COLOUR_OF).join("|")})\\b`);
