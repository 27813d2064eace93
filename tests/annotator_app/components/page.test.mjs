import assert from "node:assert/strict";
import test from "node:test";
import { Outbox } from "../../../annotator_app/sts_annotator_app/components/outbox.mjs";
import { localStore } from "../../../annotator_app/sts_annotator_app/components/browser.mjs";
import { luminance } from "../../../sts/viewer/page.mjs";
import { Storage } from "./fixtures.mjs";

test("a dark page is recognised in every colour notation", () => {
  const dark = ["#000", "#111", "#111f", "#0e1117", "#0e1117ff", "rgb(14, 17, 23)", "rgb(14.5 17 23 / 50%)"];
  const light = ["#fff", "#eee", "#EEEEEE", "rgb(250,250,250)", "rgba(250, 250, 250, 0.9)"];
  assert.deepEqual([...dark, ...light].filter((colour) => luminance(colour) < 0.4), dark);
  assert.ok(luminance("no colour") > 0.99);
});

test("a colour is read by the canvas, and an invalid one counts as white", async () => {
  const known = { black: "#000000", "#ffffff": "#ffffff", "hsl(0 0% 0% / 0.5)": "rgba(0, 0, 0, 0.5)" };
  const brush = {
    get fillStyle() { return this.read; },
    set fillStyle(colour) { this.read = known[colour] ?? this.read; },
  };
  globalThis.document = { createElement: () => ({ getContext: () => brush }) };
  try {
    const { luminance } = await import("../../../sts/viewer/page.mjs?in-a-browser");
    const colours = ["black", "none such", "hsl(0 0% 0% / 0.5)"];
    assert.deepEqual(colours.map((colour) => luminance(colour) < 0.4), [true, false, true]);
  } finally {
    delete globalThis.document;
  }
});

function withLocalStorage(get, act) {
  const before = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
  Object.defineProperty(globalThis, "localStorage", { get, configurable: true });
  try {
    return act();
  } finally {
    if (before) Object.defineProperty(globalThis, "localStorage", before);
    else delete globalThis.localStorage;
  }
}

test("without storage an answer is kept in the page, with a notice", () => {
  const forbidden = () => {
    throw new Error("forbidden");
  };
  for (const get of [forbidden, () => null]) {
    const outbox = new Outbox(withLocalStorage(get, localStore), "place:1");
    outbox.put({ uuid: "u1", item: "one" });
    assert.deepEqual([outbox.size, outbox.volatile], [1, true]);
    outbox.settle([{ uuid: "u1", status: "saved" }]);
    assert.equal(outbox.size, 0);
  }
});

test("a full storage can still be read", () => {
  const storage = new Storage();
  new Outbox(storage, "place:1").put({ uuid: "u1", item: "one" });
  storage.full = true;
  assert.equal(new Outbox(withLocalStorage(() => storage, localStore), "place:1").size, 1);
});
