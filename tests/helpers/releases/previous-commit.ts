/** Of the release before this one: the only place that names it. To be changed with each release. */
export const PREVIOUS_COMMIT = '747b9ea0bd674467bc216ad81ba3805291a89c78';
