// Verdicts and reasons as they are displayed.

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

/** @param {{ verdict: string, step: number | null }} mark */
export const inWords = ({ verdict, step }) => `${VERDICTS[verdict]}${step ? ` at step ${step}` : ""}`;
