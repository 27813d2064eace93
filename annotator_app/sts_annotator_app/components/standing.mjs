// Status after decisions, as in sts/suites/decisions.py, including decisions not yet saved.

/** @type {Record<string, string>} */
const STATUS_AFTER = { accept: "accepted", reject: "rejected", retire: "retired" };

/** @type {Record<string, string>} */
export const PAST = { accept: "Accepted", reject: "Rejected", retire: "Retired", rating: "Rated", undo: "Undone", edit: "Edited" };

// Applies unsaved decisions to a candidate's state; those that the server has already count once.
/** @param {Decided} known @param {Decision[]} waiting @returns {Decided} */
export function applyUnsaved(known, waiting) {
  let { last, standing } = known;
  for (const { uuid, kind, about, follows, reason = "" } of waiting) {
    if (kind === "rating" || about === "rating") continue; // no effect on the status
    if (follows !== last) continue; // saved already, or going to be rejected
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
    if (STATUS_AFTER[kind]) [status, why] = [STATUS_AFTER[kind], reason];
  if (inherited && status !== "retired") status = "kept";
  return { status, by: standing.at(-1)?.[2] ?? "", reason: why, last, standing, inherited };
}
