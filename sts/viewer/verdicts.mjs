// Verdicts and reasons as they are displayed.

import { isTouch, namerOf } from "./keys.mjs";

/** @type {Record<string, string>} */
export const VERDICTS = {
  success: "Success",
  failure: "Failure",
  not_done: "Not completed",
  cannot_judge: "Can't judge",
};
export const REASONS = [
  "the instruction can be read in more than one way",
  "the instruction does not fit the situation",
  "I cannot tell what happened",
];
/** @type {Record<string, string>} */
export const SIGNS = { success: "✓", failure: "✗" };

/** @type {import("./keys.mjs").Controls} of pages with verdicts, as their texts name them */
export const CONTROLS = {
  play: ["Space", "Play"],
  takeover: ["T", "Takeover"],
  success: ["S", "Success"],
  failure: ["F", "Failure"],
  not_done: ["N", "Not completed"],
  cannot_judge: ["X", "Can't judge"],
  undo: ["U", "Undo"],
  previous: ["B", "Back"],
};

// Returns what a person presses for each verdict, with its words if that is a key.
export const nameVerdicts = () =>
  Object.entries(VERDICTS).map(([name, words]) => namerOf(CONTROLS)(name) + (isTouch() ? "" : ` (${words.toLowerCase()})`));

export const askReason = () => `choose a reason${isTouch() ? "" : ` with 1 to ${REASONS.length + 1}`}`;

/** @param {{ verdict: string, step: number | null }} mark */
export const inWords = ({ verdict, step }) => `${VERDICTS[verdict]}${step ? ` at step ${step}` : ""}`;
