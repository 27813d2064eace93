// Drawing of Λ* in a browser: the torus for annotators, and the neighbourhood that a player
// sees. Colours are Okabe and Ito's, and no information is given by colour alone: shapes and letters
// repeat it. docs/worlds.md documents the exports.

// The first two objects have unique styles: a disc, and a diamond. The others cycle through five
// colours and six shapes, so that thirty of them differ.
const OBJECT_STYLES = [["#009E73", 0], ["#D55E00", 4]];
const COLOURS = ["#0072B2", "#E69F00", "#56B4E9", "#CC79A7", "#F0E442"];
const SIDES = [4.5, 3, 6, 5, 3.5, 8]; // corners: 4.5 is a square, 3.5 a triangle that points down
const DARK_FILLS = ["#0072B2"]; // fills on which letters are white
/** @returns {any[]} colour and sides of an object */
const lookOf = (k) => OBJECT_STYLES[k] ?? [COLOURS[(k - OBJECT_STYLES.length) % COLOURS.length], SIDES[(k - OBJECT_STYLES.length) % SIDES.length]];
const MIN_JUDGED = 0.42; // size of a judged object on a crowded cell, as a share of the cell
const TRAIL = 4; // length of the trail behind each object, in steps

// Draw the board at a frame; return the position of each object.
export function paint(canvas, episode, frame, options) {
  const x = canvas.getContext("2d");
  const cell = Math.floor(Math.min(canvas.width / episode.width, canvas.height / episode.height));
  const left = Math.floor((canvas.width - cell * episode.width) / 2);
  const top = Math.floor((canvas.height - cell * episode.height) / 2);
  const board = { x, cell, episode, frame, options, wide: cell * episode.width, high: cell * episode.height };
  x.save();
  x.translate(left, top);
  x.save();
  x.beginPath();
  x.rect(0, 0, board.wide, board.high);
  x.clip();
  paintGround(board);
  const cells = cellsOf(episode, frame);
  const { auras } = episode.details;
  for (const [object, sign] of auras) for (const at of around(board, object)) hatch(board, at, sign, lookOf(object)[0]);
  for (const [key, group] of cells) if (group.length > 1) paintPlate(board, key);
  if (cell >= 24) for (const [object, sign] of auras) for (const at of around(board, object)) paintSign(board, at, sign);
  if (frame > episode.takeover) for (const k of episode.judged) paintStart(board, k);
  if (frame >= episode.takeover) for (const place of options.overlay?.cells ?? []) paintMark(board, place);
  for (let k = 0; k < episode.names.length; k++) paintTrail(board, k);
  const judged = (k) => episode.judged.includes(k);
  const places = placesOf(cells, judged);
  const order = [...places.keys()].sort((a, b) => judged(a) - judged(b)); // judged objects on top
  for (const k of order) {
    const { row, column, size } = places[k];
    const shown = { glyph: episode.glyphs[k], judged: judged(k), options };
    paintShape(x, k, column * cell, row * cell, (size * cell) / 2, shown);
  }
  if (options.overlay?.sight) for (const k of episode.judged) paintAround(board, k);
  x.restore();
  x.strokeStyle = options.edge;
  x.lineWidth = Math.max(2, cell / 24);
  x.strokeRect(0, 0, board.wide, board.high);
  x.restore();
  return places.map(({ row, column }) => ({ x: left + column * cell, y: top + row * cell, reach: 0.42 * cell }));
}

// Describe the cell of each object in words.
export function describe(episode, frame) {
  return episode.names.map((name, k) => {
    const [row, column] = cellOf(episode, frame, k);
    return `${name} in row ${row + 1}, column ${column + 1}`;
  }).join("; ");
}

// Draw a single object, for the legend.
export function paintObject(canvas, episode, object, options) {
  const shown = { glyph: episode.glyphs[object], judged: episode.judged.includes(object), options };
  const middle = canvas.width / 2;
  paintShape(canvas.getContext("2d"), object, middle, canvas.height / 2, 0.64 * middle, shown);
}

/** @returns {[row: number, column: number]} */
function cellOf(episode, frame, object) {
  const cell = episode.scene(frame)[object];
  return [Math.floor(cell / episode.width), cell % episode.width];
}

// Return the shortest displacement on the torus from one cell to another, as [rows, columns].
export function displacement({ height, width }, [r0, c0], [r1, c1]) {
  const around = (d, size) => ((((d + size / 2) % size) + size) % size) - size / 2;
  return [around(r1 - r0, height), around(c1 - c0, width)];
}

function paintGround({ x, cell, episode, options, wide, high }) {
  x.fillStyle = options.background;
  x.fillRect(0, 0, wide, high);
  if (cell < 6) return;
  x.strokeStyle = options.grid;
  x.lineWidth = 1;
  x.beginPath();
  for (let c = 1; c < episode.width; c++) x.moveTo(c * cell + 0.5, 0), x.lineTo(c * cell + 0.5, high);
  for (let r = 1; r < episode.height; r++) x.moveTo(0, r * cell + 0.5), x.lineTo(wide, r * cell + 0.5);
  x.stroke();
}

// Return the cells around an object in which it gives or takes reward.
/** @returns {[row: number, column: number][]} */
function around({ episode, frame }, object) {
  const [row, column] = cellOf(episode, frame, object);
  const near = (at, size) => [-1, 0, 1].map((by) => (at + by + size) % size);
  return near(row, episode.height).flatMap((r) => near(column, episode.width).map((c) => /** @type {[number, number]} */ ([r, c])));
}

// Draw parallel lines through a cell: rising for positive rewards, falling for negative ones. They
// continue in the next cell, and cross where both rewards apply.
function hatch({ x, cell, options }, [row, column], sign, colour) {
  const [left, top] = [column * cell, row * cell];
  x.save();
  x.beginPath();
  x.rect(left, top, cell, cell);
  x.clip();
  x.strokeStyle = colour;
  x.globalAlpha = options.dark ? 0.95 : 0.6;
  x.lineWidth = Math.max(1, cell * 0.035);
  x.beginPath();
  for (let at = -3; at <= 3; at++) {
    const from = left + (at * cell) / 4;
    x.moveTo(from, sign > 0 ? top + cell : top);
    x.lineTo(from + cell, sign > 0 ? top : top + cell);
  }
  x.stroke();
  x.restore();
}

// Draw the sign of a reward in a corner of a cell; where areas overlap both signs stay legible.
function paintSign({ x, cell, options }, [row, column], sign) {
  const text = sign > 0 ? "+" : "−";
  const place = [(sign > 0 ? column : column + 1) * cell + sign * cell * 0.07, row * cell + cell * 0.04];
  x.save();
  x.font = `700 ${Math.round(cell * 0.24)}px sans-serif`;
  x.textAlign = sign > 0 ? "left" : "right";
  x.textBaseline = "top";
  x.lineWidth = cell * 0.08;
  x.strokeStyle = options.background;
  x.strokeText(text, ...place);
  x.fillStyle = options.text;
  x.fillText(text, ...place);
  x.restore();
}

// Draw a dashed frame around the cell of a judged player at the takeover.
function paintStart({ x, cell, episode, options }, object) {
  const [row, column] = cellOf(episode, episode.takeover, object);
  x.save();
  x.strokeStyle = options.text;
  x.lineWidth = Math.max(1.5, cell * 0.03);
  x.setLineDash([cell * 0.12, cell * 0.08]);
  x.strokeRect((column + 0.08) * cell, (row + 0.08) * cell, 0.84 * cell, 0.84 * cell);
  x.restore();
}

// Draw corner marks, which no object covers, and a tint on a cell that matters for the verdict.
function paintMark({ x, cell, episode, options }, place) {
  const [row, column] = [Math.floor(place / episode.width), place % episode.width];
  const arm = 0.28 * cell;
  x.save();
  x.fillStyle = x.strokeStyle = options.text;
  x.globalAlpha = 0.12;
  x.fillRect(column * cell, row * cell, cell, cell);
  x.globalAlpha = 1;
  x.lineWidth = Math.max(2, cell * 0.07);
  x.beginPath();
  for (const [down, right] of [[0, 0], [0, 1], [1, 0], [1, 1]]) {
    const [cx, cy] = [(column + right + (0.5 - right) * 0.08) * cell, (row + down + (0.5 - down) * 0.08) * cell];
    x.moveTo(cx + (1 - 2 * right) * arm, cy);
    x.lineTo(cx, cy);
    x.lineTo(cx, cy + (1 - 2 * down) * arm);
  }
  x.stroke();
  x.restore();
}

// Draw a frame around the cells that a judged player sees, wrapped across the edges.
function paintAround({ x, cell, episode, frame, options, wide, high }, object) {
  const [row, column] = cellOf(episode, frame, object);
  x.save();
  x.strokeStyle = options.text;
  x.lineWidth = Math.max(2, cell * 0.05);
  for (const down of [-high, 0, high])
    for (const right of [-wide, 0, wide]) x.strokeRect((column - 1) * cell + right, (row - 1) * cell + down, 3 * cell, 3 * cell);
  x.restore();
}

// Draw an object's last steps. A step over the edge is drawn twice, leaving on one side and entering
// on the other, and clipped by the board.
function paintTrail({ x, cell, episode, frame }, object) {
  x.save();
  x.strokeStyle = lookOf(object)[0];
  x.lineCap = "round";
  for (let age = 0; age < TRAIL && frame - age > 0; age++) {
    const from = cellOf(episode, frame - age - 1, object);
    const to = cellOf(episode, frame - age, object);
    const [dr, dc] = displacement(episode, from, to);
    if (!dr && !dc) continue;
    x.globalAlpha = 0.75 * (1 - age / TRAIL);
    x.lineWidth = Math.max(1.5, cell * 0.09 * (1 - age / (2 * TRAIL)));
    for (const [r, c] of [from, [to[0] - dr, to[1] - dc]]) {
      x.beginPath();
      x.moveTo((c + 0.5) * cell, (r + 0.5) * cell);
      x.lineTo((c + dc + 0.5) * cell, (r + dr + 0.5) * cell);
      x.stroke();
    }
  }
  x.restore();
}

// Return the objects of each occupied cell.
function cellsOf(episode, frame) {
  const cells = new Map();
  for (let k = 0; k < episode.names.length; k++) {
    const key = cellOf(episode, frame, k).join();
    cells.set(key, [...(cells.get(key) ?? []), k]);
  }
  return cells;
}

// Return the position and size of each object; those that share a cell are smaller: two are placed
// diagonally, more in rows. A judged one stays large enough to be seen, on top of others.
function placesOf(cells, judged) {
  const places = [];
  for (const [key, group] of cells) {
    const [row, column] = key.split(",").map(Number);
    const side = Math.ceil(Math.sqrt(group.length));
    const rows = Math.ceil(group.length / side);
    group.forEach((k, at) => {
      let [down, right] = [0.5, 0.5];
      if (group.length === 2) [down, right] = at ? [0.67, 0.68] : [0.35, 0.32];
      else if (side > 1) {
        down = 0.5 + ((Math.floor(at / side) + 0.5 - rows / 2) / side) * 0.92;
        right = 0.5 + (((at % side) + 0.5) / side - 0.5) * 0.92;
      }
      let size = group.length === 2 ? 0.5 : side > 1 ? 0.84 / side : 0.74;
      if (size < MIN_JUDGED && judged(k)) {
        const within = (at) => Math.max(0.3, Math.min(0.7, at));
        [down, right, size] = [within(down), within(right), MIN_JUDGED];
      }
      places[k] = { row: row + down, column: column + right, size };
    });
  }
  return places;
}

// Draw the plate under several objects that share a cell.
function paintPlate({ x, cell, options }, key) {
  const [row, column] = key.split(",").map(Number);
  const inset = 0.02 * cell;
  x.save();
  x.beginPath();
  x.roundRect(column * cell + inset, row * cell + inset, cell - 2 * inset, cell - 2 * inset, 0.16 * cell);
  x.fillStyle = options.background;
  x.fill();
  x.globalAlpha = options.dark ? 0.3 : 0.16;
  x.fillStyle = options.text;
  x.fill();
  x.globalAlpha = 1;
  x.strokeStyle = options.text;
  x.lineWidth = Math.max(2, cell * 0.05);
  x.stroke();
  x.restore();
}

function paintShape(x, object, cx, cy, radius, { glyph, judged, options }) {
  const [colour, sides] = lookOf(object);
  if (judged) {
    x.beginPath();
    x.arc(cx, cy, radius * 1.3, 0, 2 * Math.PI);
    x.strokeStyle = options.text;
    x.lineWidth = Math.max(2, radius * 0.16);
    x.stroke();
  }
  outline(x, sides, cx, cy, radius);
  x.fillStyle = colour;
  x.fill();
  x.strokeStyle = "#111";
  x.lineWidth = Math.max(1, radius * 0.09);
  x.stroke();
  if (radius < 5) return;
  x.fillStyle = DARK_FILLS.includes(colour) ? "#fff" : "#111";
  const size = [1, 1, 0.85, 0.66][Math.min(glyph.length, 3)]; // fits up to three letters
  x.font = `700 ${Math.round(radius * size)}px sans-serif`;
  x.textAlign = "center";
  x.textBaseline = "alphabetic";
  const { actualBoundingBoxAscent: up, actualBoundingBoxDescent: down } = x.measureText(glyph);
  x.fillText(glyph, cx, cy + (up - down) / 2);
}

function outline(x, sides, cx, cy, radius) {
  x.beginPath();
  if (!sides) return x.arc(cx, cy, radius, 0, 2 * Math.PI);
  const square = sides === 4.5;
  const corners = Math.floor(sides);
  const pointDown = sides === 3.5;
  const r = square ? radius * 1.2 : radius * 1.12;
  for (let i = 0; i < corners; i++) {
    const angle = ((i + (square ? 0.5 : 0)) / corners) * 2 * Math.PI - (pointDown ? -1 : 1) * (Math.PI / 2);
    x.lineTo(cx + r * Math.cos(angle), cy + r * Math.sin(angle));
  }
  x.closePath();
}

const TINTS = { gain: "#009E73", loss: "#D55E00" };
const GOOD = 0, EVIL = 1, SELF = 2, OTHERS = 3; // colours and shapes as on the board

// Draw the view of one player: its Moore neighbourhood, with itself in the middle.
export function paintSight(canvas, sight, options) {
  const x = canvas.getContext("2d");
  const cell = Math.floor(canvas.width / sight.side);
  const middle = (sight.cells.length - 1) / 2;
  sight.cells.forEach((content, i) => {
    const left = (i % sight.side) * cell;
    const top = Math.floor(i / sight.side) * cell;
    x.fillStyle = options.background;
    x.fillRect(left, top, cell, cell);
    if (content.reward) {
      x.globalAlpha = Math.min(1, Math.abs(content.reward)) * (options.dark ? 0.5 : 0.3);
      x.fillStyle = content.reward > 0 ? TINTS.gain : TINTS.loss;
      x.fillRect(left, top, cell, cell);
      x.globalAlpha = 1;
    }
    x.strokeStyle = options.grid;
    x.lineWidth = Math.max(1, cell / 80);
    x.strokeRect(left, top, cell, cell);
    x.fillStyle = options.text;
    x.font = `${Math.round(cell * 0.13)}px sans-serif`;
    x.textAlign = "left";
    x.textBaseline = "top";
    const worth = `${content.reward > 0 ? "+" : "−"}${Math.abs(content.reward)}`;
    if (content.reward) x.fillText(worth, left + cell * 0.06, top + cell * 0.06);
    paintContent(x, content, i === middle, left, top, cell, options);
  });
  x.strokeStyle = options.text;
  x.lineWidth = Math.max(2, cell / 40);
  x.strokeRect(middle % sight.side * cell, Math.floor(middle / sight.side) * cell, cell, cell);
}

function paintContent(x, content, own, left, top, cell, options) {
  const objects = [
    ...(own ? [[SELF, "YOU"]] : []),
    ...(content.good ? [[GOOD, "G"]] : []),
    ...(content.evil ? [[EVIL, "E"]] : []),
    ...(content.others ? [[OTHERS, content.others > 1 ? `${content.others}` : ""]] : []),
  ];
  const side = objects.length > 1 ? 2 : 1;
  objects.forEach(([object, glyph], i) => {
    const cx = left + ((i % side) + 0.5) * (cell / side);
    const cy = top + (Math.floor(i / side) + 0.5) * (cell / side) + (side === 2 && objects.length < 3 ? cell / 4 : 0);
    paintShape(x, object, cx, cy, cell * (side === 1 ? 0.28 : 0.17), { glyph, judged: false, options });
  });
}

// Describe the objects in each cell of a view in words.
export function describeSight(sight) {
  const cells = sight.cells.map((cell, i) => {
    const objects = [cell.good && "Good", cell.evil && "Evil", cell.others && `${cell.others} others`].filter(Boolean);
    return objects.length ? `${sight.side === 3 ? AROUND[i] : `cell ${i + 1}`}: ${objects.join(", ")}` : "";
  });
  return cells.filter(Boolean).join("; ") || "nothing in view";
}
const AROUND = ["up-left", "up", "up-right", "left", "here", "right", "down-left", "down", "down-right"];

// Describe the position of the player itself.
export const placeOf = ({ row, column, height, width }) =>
  `You are in row ${row + 1}, column ${column + 1} of ${height} × ${width}; the board wraps around`;
