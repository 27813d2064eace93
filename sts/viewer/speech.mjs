// Speech bubbles next to their speakers.

// `x` and `y` are the centre of the speaker and `reach` its distance to the bubble, in pixels of the
// canvas; `fresh` is true for an utterance of the current frame.
export function paintBubble(canvas, { x: middle, y: level, reach }, { text, fresh }, { scale }) {
  const x = canvas.getContext("2d");
  const font = Math.max(13 * scale, Math.min(0.81 * reach, 22 * scale));
  x.save();
  x.font = `600 ${Math.round(font)}px sans-serif`;
  const w = x.measureText(text).width + font;
  const h = font * 1.6;
  const above = level - 1.3 * reach - h > 0;
  const tip = level + (above ? -reach : reach);
  const left = Math.max(2, Math.min(canvas.width - w - 2, middle - w / 2));
  const top = Math.max(2, Math.min(canvas.height - h - 2, above ? tip - h - font * 0.35 : tip + font * 0.35));
  x.beginPath();
  x.roundRect(left, top, w, h, font * 0.4);
  x.fillStyle = fresh ? "#fffbe6" : "#e4e4e0";
  x.fill();
  x.strokeStyle = fresh ? "#111" : "#777";
  x.lineWidth = fresh ? 2.5 * scale : scale;
  x.stroke();
  x.beginPath();
  x.moveTo(middle, tip);
  x.lineTo(Math.max(left + font, Math.min(left + w - font, middle)), above ? top + h : top);
  x.stroke();
  x.fillStyle = fresh ? "#111" : "#555";
  x.textAlign = "center";
  x.textBaseline = "middle";
  x.fillText(text, left + w / 2, top + h / 2 + 1);
  x.restore();
}
