// Painting what one participant sees: its Moore neighbourhood, itself in the middle.

import { paintObject } from "./draw.mjs";

const TINTS = { gain: "#009E73", loss: "#D55E00" };
const GOOD = 0, EVIL = 1, SELF = 2, OTHERS = 3; // the same colours and shapes as on the judge's board

export function paintSight(canvas, sight, theme) {
  const x = canvas.getContext("2d");
  const cell = Math.floor(canvas.width / sight.side);
  x.clearRect(0, 0, canvas.width, canvas.height);
  const middle = (sight.cells.length - 1) / 2;
  sight.cells.forEach((content, i) => {
    const left = (i % sight.side) * cell;
    const top = Math.floor(i / sight.side) * cell;
    x.fillStyle = theme.background;
    x.fillRect(left, top, cell, cell);
    if (content.reward) {
      x.globalAlpha = Math.min(1, Math.abs(content.reward)) * (theme.dark ? 0.5 : 0.3);
      x.fillStyle = content.reward > 0 ? TINTS.gain : TINTS.loss;
      x.fillRect(left, top, cell, cell);
      x.globalAlpha = 1;
    }
    x.strokeStyle = theme.grid;
    x.lineWidth = Math.max(1, cell / 80);
    x.strokeRect(left, top, cell, cell);
    x.fillStyle = theme.text;
    x.font = `${Math.round(cell * 0.13)}px sans-serif`;
    x.textAlign = "left";
    x.textBaseline = "top";
    const worth = `${content.reward > 0 ? "+" : "−"}${Math.abs(content.reward)}`;
    if (content.reward) x.fillText(worth, left + cell * 0.06, top + cell * 0.06);
    paintThere(x, content, i === middle, left, top, cell, theme);
  });
  x.strokeStyle = theme.text;
  x.lineWidth = Math.max(2, cell / 40);
  x.strokeRect(middle % sight.side * cell, Math.floor(middle / sight.side) * cell, cell, cell);
}

function paintThere(x, content, own, left, top, cell, theme) {
  const there = [
    ...(own ? [[SELF, "YOU"]] : []),
    ...(content.good ? [[GOOD, "G"]] : []),
    ...(content.evil ? [[EVIL, "E"]] : []),
    ...(content.others ? [[OTHERS, content.others > 1 ? `${content.others}` : ""]] : []),
  ];
  const side = there.length > 1 ? 2 : 1;
  there.forEach(([object, glyph], i) => {
    const cx = left + ((i % side) + 0.5) * (cell / side);
    const cy = top + (Math.floor(i / side) + 0.5) * (cell / side) + (side === 2 && there.length < 3 ? cell / 4 : 0);
    paintObject(x, object, cx, cy, cell * (side === 1 ? 0.28 : 0.17), { glyph, judged: false, theme });
  });
}
