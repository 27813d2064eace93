// Painting: one frame of a sheet on a canvas, as large as fits.

// Where a picture loses no more than a fifth of its size by it, each of its pixels becomes a square of
// whole pixels; else its squares are made too large first, so that all come out alike.
function clean(scale) {
  const whole = Math.floor(scale);
  return scale < 1.25 * whole ? whole : scale;
}

function enlarged(bitmap, left, top, width, height, times) {
  const large = new OffscreenCanvas(width * times, height * times);
  const x = large.getContext("2d");
  x.imageSmoothingEnabled = false;
  x.drawImage(bitmap, left, top, width, height, 0, 0, large.width, large.height);
  return large;
}

// `bitmap` is null while it is being decoded.
export function paintFrame(canvas, bitmap, { width, height, columns, index }, line, theme) {
  const x = canvas.getContext("2d");
  x.setTransform(1, 0, 0, 1, 0, 0);
  x.clearRect(0, 0, canvas.width, canvas.height);
  const edge = 2 * theme.scale;
  const scale = clean(Math.min((canvas.width - 2 * edge) / width, (canvas.height - 2 * edge) / height));
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  const [left, top] = [Math.floor((canvas.width - wide) / 2), Math.floor((canvas.height - high) / 2)];
  if (bitmap) {
    x.imageSmoothingEnabled = !Number.isInteger(scale);
    x.imageSmoothingQuality = "high";
    const at = [(index % columns) * width, Math.floor(index / columns) * height, width, height];
    if (scale > 1 && !Number.isInteger(scale)) {
      const large = enlarged(bitmap, ...at, Math.ceil(scale));
      x.drawImage(large, left, top, wide, high);
    } else x.drawImage(bitmap, ...at, left, top, wide, high);
  } else {
    x.fillStyle = theme.text;
    x.font = `${15 * theme.scale}px sans-serif`;
    x.textAlign = "center";
    x.fillText("The pictures are on their way ...", canvas.width / 2, canvas.height / 2);
  }
  x.strokeStyle = line;
  x.lineWidth = edge;
  x.strokeRect(left - edge / 2, top - edge / 2, wide + edge, high + edge);
}

// The colour that a name names, such as "blue hat"; null where it names none. They are close to what
// worlds draw, and told apart on light and on dark pages.
export const colourIn = (name) => COLOUR_OF[name.toLowerCase().match(NAMED)?.[0]] ?? null;
const COLOUR_OF = {
  red: "#F03030", orange: "#E69F00", yellow: "#F0E442", green: "#009E73", blue: "#0072B2", purple: "#8A50C8",
  pink: "#E878B0", brown: "#8A5A2B", black: "#000000", white: "#FFFFFF", grey: "#888888", gray: "#888888",
};
const NAMED = new RegExp(`\\b(${Object.keys(COLOUR_OF).join("|")})\\b`);
