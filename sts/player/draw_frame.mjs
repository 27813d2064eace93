// Painting: one frame of a sheet on a canvas, as large as fits and with the pixels it has.

// `bitmap` is null while it is being decoded.
export function paintFrame(canvas, bitmap, { width, height, columns, index }, line, theme) {
  const x = canvas.getContext("2d");
  x.setTransform(1, 0, 0, 1, 0, 0);
  x.clearRect(0, 0, canvas.width, canvas.height);
  const edge = 2 * theme.scale;
  const scale = Math.min((canvas.width - 2 * edge) / width, (canvas.height - 2 * edge) / height);
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  const [left, top] = [Math.floor((canvas.width - wide) / 2), Math.floor((canvas.height - high) / 2)];
  if (bitmap) {
    x.imageSmoothingEnabled = scale < 1;
    x.imageSmoothingQuality = "high";
    const [column, row] = [index % columns, Math.floor(index / columns)];
    x.drawImage(bitmap, column * width, row * height, width, height, left, top, wide, high);
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

// A colour that a name names, such as "blue hat"; null where it names none.
export const colourIn = (name) => name.toLowerCase().match(NAMED)?.[0] ?? null;
const NAMED = /\b(red|orange|yellow|green|blue|purple|pink|brown|black|white|grey|gray)\b/;
