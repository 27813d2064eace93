// Painting: one frame of an episode on a canvas, and one object for the legend. Colours are
// Okabe and Ito's; whatever a colour says, a shape and a letter say too.

import { cellOf, displacement } from "./episode.mjs";

// The first two objects have a colour and a shape of their own: a disc, and a diamond. The others go
// round five colours and six shapes, so that thirty of them differ.
const OWN = [["#009E73", 0], ["#D55E00", 4]];
const COLOURS = ["#0072B2", "#E69F00", "#56B4E9", "#CC79A7", "#F0E442"];
const SIDES = [4.5, 3, 6, 5, 3.5, 8]; // corners: 4.5 is a square, 3.5 a triangle that points down
const DARK_FILLS = ["#0072B2"]; // these carry white letters
const lookOf = (k) => OWN[k] ?? [COLOURS[(k - OWN.length) % COLOURS.length], SIDES[(k - OWN.length) % SIDES.length]];
const TRAIL = 4; // steps of motion shown behind each object

export function paint(canvas, episode, frame, theme) {
  const x = canvas.getContext("2d");
  const cell = Math.floor(Math.min(canvas.width / episode.width, canvas.height / episode.height));
  const left = Math.floor((canvas.width - cell * episode.width) / 2);
  const top = Math.floor((canvas.height - cell * episode.height) / 2);
  x.setTransform(1, 0, 0, 1, 0, 0);
  x.clearRect(0, 0, canvas.width, canvas.height);
  x.setTransform(1, 0, 0, 1, left, top);
  const board = { x, cell, episode, frame, theme, wide: cell * episode.width, high: cell * episode.height };
  x.save();
  x.beginPath();
  x.rect(0, 0, board.wide, board.high);
  x.clip();
  paintGround(board);
  for (const aura of episode.auras) paintAura(board, aura);
  if (frame > episode.takeover) for (const k of episode.judged) paintStart(board, k);
  for (let k = 0; k < episode.objects; k++) paintTrail(board, k);
  const places = placesOf(episode, frame);
  const judged = (k) => episode.judged.includes(k);
  const order = [...places.keys()].sort((a, b) => judged(a) - judged(b)); // the judged ones on top
  for (const k of order) {
    const { row, column, size } = places[k];
    const shown = { glyph: episode.glyphs[k], judged: judged(k), theme };
    paintObject(x, k, column * cell, row * cell, (size * cell) / 2, shown);
  }
  x.restore();
  x.strokeStyle = frame > episode.takeover ? theme.accent : theme.border;
  x.lineWidth = Math.max(2, cell / 24);
  x.strokeRect(0, 0, board.wide, board.high);
  return (utterances) => utterances.forEach((said) => paintBubble(board, places[said.object], said));
}

function paintGround({ x, cell, episode, theme, wide, high }) {
  x.fillStyle = theme.background;
  x.fillRect(0, 0, wide, high);
  if (cell < 6) return;
  x.strokeStyle = theme.grid;
  x.lineWidth = 1;
  x.beginPath();
  for (let c = 1; c < episode.width; c++) x.moveTo(c * cell + 0.5, 0), x.lineTo(c * cell + 0.5, high);
  for (let r = 1; r < episode.height; r++) x.moveTo(0, r * cell + 0.5), x.lineTo(wide, r * cell + 0.5);
  x.stroke();
}

// The cells around an object in which it gives or takes reward: tinted, with a sign in the corner.
function paintAura({ x, cell, episode, frame, theme }, { object, sign }) {
  const [row, column] = cellOf(episode, frame, object);
  x.save();
  for (let dr = -1; dr <= 1; dr++)
    for (let dc = -1; dc <= 1; dc++) {
      const r = (row + dr + episode.height) % episode.height;
      const c = (column + dc + episode.width) % episode.width;
      x.globalAlpha = (theme.dark ? 0.34 : 0.2) * (dr || dc ? 1 : 1.5);
      x.fillStyle = lookOf(object)[0];
      x.fillRect(c * cell + 1, r * cell + 1, cell - 1, cell - 1);
      if (cell < 24) continue;
      x.globalAlpha = 0.8;
      x.fillStyle = theme.text;
      x.font = `${Math.round(cell * 0.22)}px sans-serif`;
      x.textAlign = sign > 0 ? "left" : "right"; // where areas overlap both signs stay readable
      x.textBaseline = "top";
      x.fillText(sign > 0 ? "+" : "−", (sign > 0 ? c : c + 1) * cell + sign * cell * 0.07, r * cell + cell * 0.04);
    }
  x.restore();
}

// Where a judged participant stood at takeover: instructions count from there.
function paintStart({ x, cell, episode, theme }, object) {
  const [row, column] = cellOf(episode, episode.takeover, object);
  x.save();
  x.strokeStyle = theme.text;
  x.lineWidth = Math.max(1.5, cell * 0.03);
  x.setLineDash([cell * 0.12, cell * 0.08]);
  x.strokeRect((column + 0.08) * cell, (row + 0.08) * cell, 0.84 * cell, 0.84 * cell);
  x.restore();
}

// Where each object came from. A step over the edge is drawn leaving one side and entering at the
// other: both halves are full segments, and the board's clipping keeps the visible part of each.
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

// Objects that share a cell stand side by side in it, smaller: two by two, three by three, ...
function placesOf(episode, frame) {
  const sharing = new Map();
  for (let k = 0; k < episode.objects; k++) {
    const key = cellOf(episode, frame, k).join();
    sharing.set(key, [...(sharing.get(key) ?? []), k]);
  }
  return Array.from({ length: episode.objects }, (_, k) => {
    const [row, column] = cellOf(episode, frame, k);
    const group = sharing.get([row, column].join());
    const side = Math.ceil(Math.sqrt(group.length));
    const at = group.indexOf(k);
    const rows = Math.ceil(group.length / side);
    return {
      row: row + (Math.floor(at / side) + 0.5 + (side - rows) / 2) / side,
      column: column + ((at % side) + 0.5) / side,
      size: (side > 1 ? 0.88 : 0.74) / side,
    };
  });
}

export function paintObject(x, object, cx, cy, radius, { glyph, judged, theme }) {
  const [colour, sides] = lookOf(object);
  if (judged) {
    x.beginPath();
    x.arc(cx, cy, radius * 1.3, 0, 2 * Math.PI);
    x.strokeStyle = theme.text;
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
  const size = [1, 1, 0.85, 0.66][Math.min(glyph.length, 3)]; // so that up to three letters fit
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

function paintBubble({ x, cell, wide, high, theme }, { row, column }, { text, fresh }) {
  const font = Math.max(13 * theme.scale, Math.min(cell * 0.34, 22 * theme.scale));
  x.save();
  x.font = `600 ${Math.round(font)}px sans-serif`;
  const w = x.measureText(text).width + font;
  const h = font * 1.6;
  const above = row * cell - cell * 0.55 - h > 0;
  const tip = row * cell + (above ? -1 : 1) * cell * 0.42;
  const bx = Math.max(2, Math.min(wide - w - 2, column * cell - w / 2));
  const by = Math.max(2, Math.min(high - h - 2, above ? tip - h - font * 0.35 : tip + font * 0.35));
  x.beginPath();
  x.roundRect(bx, by, w, h, font * 0.4);
  x.fillStyle = fresh ? "#fffbe6" : "#e4e4e0";
  x.fill();
  x.strokeStyle = fresh ? "#111" : "#777";
  x.lineWidth = fresh ? 2.5 * theme.scale : theme.scale;
  x.stroke();
  x.beginPath();
  x.moveTo(column * cell, tip);
  x.lineTo(Math.max(bx + font, Math.min(bx + w - font, column * cell)), above ? by + h : by);
  x.stroke();
  x.fillStyle = fresh ? "#111" : "#555";
  x.textAlign = "center";
  x.textBaseline = "middle";
  x.fillText(text, bx + w / 2, by + h / 2 + 1);
  x.restore();
}
