// `npm run test:long` repeats some tests with the counts and limits that users meet; the usual run has smaller ones.
export const isLongRun = process.env.HOLDFAST_TEST_LONG !== undefined;

/** A count in the usual run and in the long one. */
export const count = (usual: number, long: number): number => (isLongRun ? long : usual);
