// What decisions come to: as sts/suites/decisions.py folds them, for what the server has not seen yet.

/** @type {Record<string, string>} */
const BECOMES = { accept: "accepted", reject: "rejected", retire: "retired" };

/** @type {Record<string, string>} */
export const PAST = { accept: "Accepted", reject: "Rejected", retire: "Retired", opinion: "Second opinion on", undo: "Undone", edit: "Edited" };

// A candidate's decisions with those that wait to be saved. One that the server has by now counts once.
/** @param {Decided} known @param {Decision[]} waiting @returns {Decided} */
export function folded(known, waiting) {
  let { last, standing } = known;
  for (const { uuid, kind, about, follows, reason = "" } of waiting) {
    if (kind === "opinion" || about === "opinion") continue; // it changes nothing
    if (follows !== last) continue; // it is known by now, or will be refused
    standing = kind === "undo" ? standing.slice(0, -1) : [...standing, [uuid, kind, "you", reason]];
    last = uuid;
  }
  return { ...known, last, standing };
}

/** @param {Decided} decided @returns {Status} */
export function statusOf({ inherited, last, standing }) {
  let status = "undecided";
  let why = "";
  for (const [, kind, , reason] of standing)
    if (BECOMES[kind]) [status, why] = [BECOMES[kind], reason];
  if (inherited && status !== "retired") status = "kept";
  return { status, by: standing.at(-1)?.[2] ?? "", reason: why, last, standing, inherited };
}
