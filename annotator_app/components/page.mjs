// What every component of ours asks of the page it lives in.

/** @param {string} tag @returns {any} */
export const element = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

// Where a mouse goes down on a button the focus stays, and with it the keys.
/** @param {any} event */
export const keepFocus = (event) => event.target.closest("button") && event.preventDefault();

export const isTyping = (target) =>
  !!target?.closest?.("input:not([type=range]), textarea, select, [contenteditable=true]");

// True when a key press is meant for something else: a dialog, or a focused link or button.
/** @param {KeyboardEvent} event @param {ShadowRoot | HTMLElement} root */
export function ownsKey(event, root) {
  /** @type {any} */
  const target = event.composedPath()[0];
  if (target.closest?.("[role=dialog]") && !root.contains(target)) return true;
  return (event.key === " " || event.key === "Enter") && !!target.closest?.("button, a[href], [role=button]");
}

// Whose page this is until it is loaded anew. Components may be mounted again in between, such as when
// a server has died, and by then another person's link may have been opened in this browser.
/** @param {string} author */
export const ownerOf = (author) => (window.stsOwner ??= author);

// localStorage, even where it is full and can only be read; where the browser allows none, a stand-in
// that refuses every write, so that nobody is told that it keeps what they do.
/** @returns {Kept} */
export function localStore() {
  try {
    void localStorage.length; // throws where it is forbidden, or is not there at all
    return localStorage;
  } catch {
    const setItem = () => {
      throw new Error("this browser allows no storage");
    };
    return { length: 0, key: () => null, getItem: () => null, setItem, removeItem: () => {} };
  }
}

// What was kept under a key, or null where there is nothing that can be read.
/** @param {Kept} store @param {string} key @returns {any} */
export function recall(store, key) {
  try {
    return JSON.parse(store.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

// Keeps a value where there is room; returns whether there was.
/** @param {Kept} store @param {string} key @param {any} value */
export function keep(store, key, value) {
  const text = JSON.stringify(value);
  try {
    if (store.getItem(key) !== text) store.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

// Colours for a canvas, from those of the page that it stands in (page.css).
/** @param {HTMLCanvasElement} canvas @returns {Theme} */
export function themeOf(canvas) {
  const style = getComputedStyle(canvas);
  const colour = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise;
  const background = colour("--paper", "#ffffff");
  return {
    background,
    text: colour("--ink", "#222222"),
    grid: colour("--grid", "#cccccc"),
    accent: "#0072B2",
    dark: luminance(background) < 0.4,
  };
}

// How light a CSS colour is, from 0 to 1; what is no colour counts as white.
/** @param {string} colour */
export function luminance(colour) {
  const [red, green, blue] = levels(asBrowserReads(colour)) ?? [255, 255, 255];
  return (0.21 * red + 0.72 * green + 0.07 * blue) / 255;
}

/** @param {string} colour @returns {number[] | undefined} */
function levels(colour) {
  const [, hex, list] = colour.match(/^(?:#([0-9a-f]{3,8})|rgba?\((.*)\))$/i) ?? [];
  if (!hex) return list?.match(/[\d.]+/g)?.map(Number);
  const pairs = hex.length < 6 ? Array.from(hex, (digit) => digit + digit) : hex.match(/../g);
  return pairs.map((pair) => parseInt(pair, 16));
}

// One of the many ways to write a colour as #rrggbb or rgba(), where there is a canvas to do it.
function asBrowserReads(colour) {
  if (!brush) return colour;
  brush.fillStyle = "#ffffff"; // stays where the next is none
  brush.fillStyle = colour;
  return brush.fillStyle;
}
const brush = globalThis.document?.createElement("canvas").getContext("2d");

// What Streamlit calls a component by: it mounts one page in the component's root, gives it what came
// at each further call, and ends it when the component is unmounted.
export const mounted = (name, make) => (component) => {
  const root = component.parentElement; // the same shadow root at every call while mounted
  const page = (root[name] ??= make(root));
  const call = (page.mountings = (page.mountings ?? 0) + 1);
  page.update(component);
  return () => {
    if (page.mountings !== call) return; // a later call took over: not an unmount
    page.destroy();
    delete root[name];
  };
};

// Says in place of a page that another person's link was opened in this browser.
/** @param {ParentNode} root @param {string} unsaved what of theirs waits here, such as "2 answers"; "" for nothing */
export function sayAnothersLink(root, unsaved) {
  const box = root.querySelector(".empty");
  /** @type {HTMLElement} */ (box).hidden = false;
  box.querySelector("h2").textContent = "Somebody else's link was opened in this browser";
  box.querySelector("p").textContent =
    (unsaved ? `${unsaved} of yours wait here, under your name. ` : "") +
    "To go on as yourself, open your own link again; to go on as the other person, reload this page.";
}

// Streamlit covers the page with a dialog when the connection is lost. Our pages say so themselves
// and can go on without it, so it is closed as soon as it opens.
/** @param {AbortSignal} signal */
export function closeConnectionDialogs(signal) {
  const watch = new MutationObserver(() => {
    /** @type {HTMLElement | null} */
    const told = document.querySelector("[data-test-connection-state]");
    const state = told?.dataset.testConnectionState;
    /** @type {HTMLElement | null} */
    const close = document.querySelector(".stDialog button[aria-label=Close]");
    if (state && state !== "CONNECTED") close?.click();
  });
  watch.observe(document.body, { childList: true, subtree: true });
  signal.addEventListener("abort", () => watch.disconnect());
}
