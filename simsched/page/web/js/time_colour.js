// The colour of a run, wherever it is shown.

const RUN_COLOUR_COUNT = 7;

/** For styles. @param {number} run */
export function runColour(run) {
  return `var(--run-${run % RUN_COLOUR_COUNT})`;
}
