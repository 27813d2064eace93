// What whatever shows an episode asks of the page that it stands in.

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

// What a component is called by: it mounts one page in the component's root, gives it what came
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
