// Decisions about candidates: reasons, which of them are possible, and the status that they lead to, as in
// sts/suites/decisions.py, including those not yet saved.

import { namerOf } from "../../../sts/viewer/keys.mjs";

export const nameControl = namerOf({
  accept: ["A", "Accept"],
  reject: ["R", "Reject"],
  retire: ["T", "Retire"],
  yes: ["Y", "Yes"],
  no: ["N", "No"],
  next: ["J", "Next"],
  undo: ["U", "Undo"],
  sight: ["V", "Player view"],
  edit: ["E", "Edit"],
  rating: ["B", "Second rating"],
  save: ["Enter", "Save"],
  cancel: ["Esc", "Cancel"],
});

/** @type {Record<string, string>} */
const STATUS_AFTER = { accept: "accepted", reject: "rejected", retire: "retired" };

/** @type {Record<string, string>} */
export const PAST = { accept: "Accepted", reject: "Rejected", retire: "Retired", rating: "Rated", undo: "Undone", edit: "Edited" };

/** @type {Record<string, string[]>} */
export const WHY = {
  reject: [
    "two people would not agree on when it is done",
    "the subject of the question was not in sight",
    "nothing is left to do: it is done already, or waiting does it",
    "too much like another candidate",
    "the words are unclear",
  ],
  retire: [
    "every agent passes it",
    "no agent passes it",
    "people did not agree about it",
    "too much like another scenario",
    "the words are unclear",
  ],
};
// Returns why a decision is not possible; "" if it is. One that changes nothing is not possible.
/** @param {Status} state @param {string} kind @param {string} id @param {string | null} parent */
export function refusal({ status, inherited, reason }, kind, id, parent, why = "") {
  if (kind === "reject" && inherited) return `${id} comes from ${parent}: press ${nameControl("retire")} to retire it.`;
  if (kind === "retire" && !inherited) return `Only scenarios of an earlier version can be retired. Press ${nameControl("reject")} to reject ${id}.`;
  if (kind === "accept" && status === "kept") return `${id} comes from ${parent} and stays unless it is retired. Press ${nameControl("next")} for the next one.`;
  return STATUS_AFTER[kind] === status && reason === why ? `${id} is ${status} already. Press ${nameControl("next")} for the next one.` : "";
}

// Isolates a quoted text, unless it is ASCII, so that its direction does not reorder the sentence around it.
/** @param {string} text */
export const isolate = (text) => (/^[ -~]*$/.test(text) ? text : `\u2068${text}\u2069`);

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
