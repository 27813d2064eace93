// How a pond looks in a browser: the shore above, the water below, a cell a jetty. Ferries are
// boats with a letter, passengers discs with a number.

export function paint(canvas, episode, frame, options) {
  const x = canvas.getContext("2d");
  const cell = Math.floor(Math.min(canvas.width / episode.width, canvas.height / 2));
  const scene = episode.scene(frame);
  x.fillStyle = options.background;
  x.fillRect(0, 0, cell * episode.width, 2 * cell);
  x.fillStyle = options.grid;
  x.fillRect(0, cell, cell * episode.width, cell); // the water
  x.strokeStyle = options.edge;
  x.lineWidth = 2 * options.scale;
  x.strokeRect(0, 0, cell * episode.width, 2 * cell);
  return episode.names.map((name, object) => {
    const [row, jetty] = cellOf(episode, scene[object]);
    const sharing = [...scene].slice(0, object).filter((one) => one === scene[object]).length;
    const middle = { x: (jetty + 0.5) * cell, y: (row + 0.3 + 0.2 * sharing) * cell, reach: 0.2 * cell };
    paintGlyph(x, episode, object, middle, options);
    return middle;
  });
}

export function describe(episode, frame) {
  const scene = episode.scene(frame);
  return episode.names.map((name, object) => {
    const [row, jetty] = cellOf(episode, scene[object]);
    return `${name} ${row ? "afloat" : "ashore"} at jetty ${jetty + 1}`;
  }).join("; ");
}

export function paintObject(canvas, episode, object, options) {
  const middle = { x: canvas.width / 2, y: canvas.height / 2, reach: 0.4 * canvas.width };
  paintGlyph(canvas.getContext("2d"), episode, object, middle, options);
}

function cellOf(episode, cell) {
  return [Math.floor(cell / episode.width), cell % episode.width];
}

function paintGlyph(x, episode, object, { x: column, y: row, reach }, options) {
  const judged = episode.judged.includes(object);
  const passenger = object >= episode.names.length - episode.details.ends.length;
  x.fillStyle = passenger ? "#E69F00" : "#56B4E9";
  x.beginPath();
  if (passenger) x.arc(column, row, reach, 0, 2 * Math.PI);
  else x.rect(column - reach, row - reach / 2, 2 * reach, reach);
  x.fill();
  x.strokeStyle = options.text;
  x.lineWidth = (judged ? 3 : 1) * options.scale;
  x.stroke();
  x.fillStyle = "#000000";
  x.textAlign = "center";
  x.textBaseline = "middle";
  x.font = `${Math.round(reach)}px sans-serif`;
  x.fillText(episode.glyphs[object], column, row);
}
