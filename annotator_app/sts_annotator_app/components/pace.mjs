// Progress of the day and an estimate of the remaining time, in words.

import { count } from "../../../sts/viewer/episode.mjs";

const ENOUGH = 10; // episodes before a pace is estimated

// Returns phrases on today's progress and the remaining work; none before the first judgement.
/** @param {Counts} counts @returns {string[]} */
export function describePace({ today = 0, seconds = 0, left = 0 }) {
  if (!today) return [];
  const minutes = Math.round(seconds / 60);
  const lines = [`${today} today${minutes ? ` in ${count(minutes, "active minute")}` : ""}`];
  if (today >= ENOUGH && seconds > 0 && left > 0) {
    const rest = `about ${count(roundToTwoDigits(left), "judgement")} remaining for all annotators`;
    lines.push(`${rest}, ${describeDuration((left * seconds) / today)} of work at this pace`);
  }
  return lines;
}

// Rounds to two significant digits.
/** @param {number} n */
function roundToTwoDigits(n) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(n)) - 1);
  return Math.round(n / unit) * unit;
}

/** @param {number} seconds */
function describeDuration(seconds) {
  const minutes = seconds / 60;
  if (minutes < 1.5) return "about a minute";
  if (minutes < 90) return `about ${roundToTwoDigits(Math.round(minutes))} minutes`;
  return `about ${roundToTwoDigits(Math.round(minutes / 60))} hours`;
}
