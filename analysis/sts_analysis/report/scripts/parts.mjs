// What the pages of a report are made of: elements that hold others, and addresses that name what is
// chosen. Every name is foreign text, and only ever becomes text.

import { element } from "../../../../sts/viewer/page.mjs";

/** @param {string} tag @param {object} properties @param {(Node | string)[]} children @returns {any} */
export function part(tag, properties = {}, ...children) {
  const made = element(tag, properties);
  made.append(...children);
  return made;
}

export const quoted = encodeURIComponent;

// What an address names, such as "#category=go&pair=a,b": each key with its values.
/** @param {string} hash */
export function addressed(hash) {
  /** @type {Record<string, string[]>} */
  const out = {};
  for (const one of hash.slice(1).split("&")) {
    const at = one.indexOf("=");
    if (at < 1) continue;
    try {
      out[one.slice(0, at)] = one.slice(at + 1).split(",").map(decodeURIComponent);
    } catch {
      // no address of ours
    }
  }
  return out;
}

// The address of one agent or of two, as a part that follows others; "" of none.
/** @param {string} a @param {string} b */
export const whose = (a, b) => (a && b ? `&pair=${quoted(a)},${quoted(b)}` : a ? `&agent=${quoted(a)}` : "");

// A rate in thousandths as the page writes one.
/** @param {number | null} rate */
export function percent(rate) {
  if (rate === null) return "–";
  const near = (rate > 0 && rate < 10) || (rate > 990 && rate < 1000);
  return `${near ? (rate / 10).toFixed(1) : Math.round(rate / 10)}%`;
}
