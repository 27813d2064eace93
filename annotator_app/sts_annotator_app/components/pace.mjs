// What the day has come to, and how long the rest may take, in words.

import { count } from "../../../sts/viewer/episode.mjs";

const ENOUGH = 10; // episodes from which on a pace is spoken of

// Lines about today and about what is left; none before there is something to say.
/** @param {Counts} counts @returns {string[]} */
export function paceOf({ today = 0, seconds = 0, left = 0 }) {
  if (!today) return [];
  const minutes = Math.round(seconds / 60);
  const lines = [`${today} today${minutes ? ` in ${count(minutes, "active minute")}` : ""}`];
  if (today >= ENOUGH && seconds > 0 && left > 0) {
    const rest = `about ${count(rounded(left), "judgement")} left for all of you`;
    lines.push(`${rest}, at this pace ${duration((left * seconds) / today)} of work`);
  }
  return lines;
}

// Two digits are as much as can be said of it.
/** @param {number} n */
function rounded(n) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(n)) - 1);
  return Math.round(n / unit) * unit;
}

/** @param {number} seconds */
function duration(seconds) {
  const minutes = seconds / 60;
  if (minutes < 1.5) return "about a minute";
  if (minutes < 90) return `about ${rounded(Math.round(minutes))} minutes`;
  return `about ${rounded(Math.round(minutes / 60))} hours`;
}
