// Helpers for the page that a component is part of: elements, focus, keys and colours.

/** @param {string} tag @returns {any} */
export const element = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

// Keeps the focus, and with it the keys, when a button is pressed with the mouse.
/** @param {any} event */
export const keepFocus = (event) => event.target.closest("button") && event.preventDefault();

export const isTyping = (target) =>
  !!target?.closest?.("input:not([type=range]), textarea, select, [contenteditable=true]");

// Returns true if a key press belongs to a dialog or slider elsewhere, or to a focused link or button.
/** @param {KeyboardEvent} event @param {ShadowRoot | HTMLElement} root */
export function ownsKey(event, root) {
  /** @type {any} */
  const target = event.composedPath()[0];
  if (target.closest?.("[role=dialog], [type=range]") && !root.contains(target)) return true;
  return (event.key === " " || event.key === "Enter") && !!target.closest?.("button, a[href], [role=button]");
}

// Returns the colours for a canvas, from the page's style (page.css).
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

// Returns the lightness of a CSS colour, 0 to 1; invalid colours count as white.
/** @param {string} colour */
export function luminance(colour) {
  const [red, green, blue] = parseColour(normaliseColour(colour)) ?? [255, 255, 255];
  return (0.21 * red + 0.72 * green + 0.07 * blue) / 255;
}

/** @param {string} colour @returns {number[] | undefined} */
function parseColour(colour) {
  const [, hex, list] = colour.match(/^(?:#([0-9a-f]{3,8})|rgba?\((.*)\))$/i) ?? [];
  if (!hex) return list?.match(/[\d.]+/g)?.map(Number);
  const pairs = hex.length < 6 ? Array.from(hex, (digit) => digit + digit) : hex.match(/../g);
  return pairs.map((pair) => parseInt(pair, 16));
}

// Converts any CSS colour to #rrggbb or rgba(), if there is a canvas.
function normaliseColour(colour) {
  if (!brush) return colour;
  brush.fillStyle = "#ffffff"; // kept if the next colour is invalid
  brush.fillStyle = colour;
  return brush.fillStyle;
}
const brush = globalThis.document?.createElement("canvas").getContext("2d");

// Returns the function that Streamlit calls: it mounts one page in the component's root, updates it at
// each further call, and destroys it when the component is unmounted.
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
