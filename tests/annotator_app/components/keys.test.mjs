import assert from "node:assert/strict";
import test from "node:test";
import { JUDGING_KEYS } from "../../../annotator_app/sts_annotator_app/components/judging.mjs";
import { PLAYBACK_KEYS, actionsOf } from "../../../sts/viewer/keys.mjs";

const KEYS = [...PLAYBACK_KEYS, ...JUDGING_KEYS];
const actionOf = actionsOf(KEYS);
const pressed = (key, more = {}) => actionOf({ key, ...more });

test("keys are unique and avoid Streamlit's r and c", () => {
  const keys = KEYS.flatMap((row) => row.keys);
  assert.equal(new Set(keys).size, keys.length);
  for (const key of ["r", "c"]) assert.equal(pressed(key), null);
});

test("letters work with Caps Lock on", () => {
  assert.equal(pressed("S").name, "success");
});

test("Shift moves by ten steps", () => {
  assert.equal(pressed("ArrowRight").by, 1);
  assert.equal(pressed("ArrowRight", { shiftKey: true }).by, 10);
});

test("keys with Ctrl, Alt or Meta are left to the browser", () => {
  for (const modifier of ["ctrlKey", "altKey", "metaKey"]) assert.equal(pressed("s", { [modifier]: true }), null);
});

test("a held key repeats steps but marks and submits once", () => {
  assert.equal(pressed("ArrowRight", { repeat: true }).name, "forward");
  for (const key of ["s", "Enter", " ", "b"]) assert.equal(pressed(key, { repeat: true }).name, "nothing");
});

test("keys 1 to 4 give reasons", () => {
  assert.deepEqual([pressed("1").at, pressed("4").at], [0, 3]);
  assert.equal(pressed("5"), null);
});

test("keys of other scripts and of input methods are read by their place", () => {
  const layouts = { Russian: "ы", Greek: "σ", Hebrew: "ד", Arabic: "س", Hindi: "े", Japanese: "Process" };
  for (const [layout, key] of Object.entries(layouts)) assert.equal(pressed(key, { code: "KeyS" })?.name, "success", layout);
  const named = [["'", "KeyW", "watch"], ["х", "BracketLeft", "slower"], ["б", "Comma", "earlier"], ["Process", "Enter", "submit"], ["Process", "Space", "play"]];
  for (const [key, code, action] of named) assert.equal(pressed(key, { code })?.name, action, code);
  assert.deepEqual([pressed("١", { code: "Digit1" }).at, pressed("&", { code: "Digit1" }).at], [0, 0], "Arabic, French");
  for (const key of ["с", "к"]) assert.equal(pressed(key, { code: key === "с" ? "KeyC" : "KeyR" }), null, "Streamlit's");
});

test("a Latin letter counts wherever the layout has it", () => {
  const dvorak = [["s", "Semicolon"], ["f", "KeyY"], ["n", "KeyL"], ["x", "KeyB"]];
  assert.deepEqual(dvorak.map(([key, code]) => pressed(key, { code }).name), ["success", "failure", "not_done", "cannot_judge"]);
  const other = [["o", "KeyS"], ["'", "KeyQ"], [";", "KeyZ"], ["é", "KeyW"]];
  assert.deepEqual(other.map(([key, code]) => pressed(key, { code })), [null, null, null, null]);
  assert.equal(pressed(",", { code: "KeyM" }).name, "earlier", "French");
});

test("a page that only shows episodes ignores the keys of judging", () => {
  const playing = actionsOf(PLAYBACK_KEYS);
  assert.equal(playing({ key: "t" }).name, "takeover");
  for (const key of ["s", "f", "n", "x", "Enter", "Escape", "1"]) assert.equal(playing({ key }), null);
});
