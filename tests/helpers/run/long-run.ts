// `npm run test:long` repeats some tests with the counts and limits that users meet, and has the variants of a guarantee
// that the usual run leaves out: that one has a representative of each. The last lines of a run name what it left out.

export const isLongRun = process.env.HOLDFAST_TEST_LONG !== undefined;

/** A count in the usual run and in the long one. */
export const count = (usual: number, long: number): number => (isLongRun ? long : usual);

/** At the end of a title; see last-lines-reporter.js. */
const MARK = '[long run]';

type Body = () => Promise<unknown>;
type Arguments<Row> = Row extends readonly unknown[] ? Row : [Row];

/** A test of the long run alone: another test gives the guarantee in each run, by another way or with less. */
export function longTest(title: string, body: Body, timeout?: number): void {
  if (isLongRun) test(title, body, timeout);
  else test.skip(`${title} ${MARK}`, body);
}

/** A table of which the usual run takes the rows that `isUsual` names: one for each branch of the code. */
export function testEachOf<Row extends readonly [] | object>(
  rows: readonly Row[],
  isUsual: (row: NoInfer<Row>) => boolean,
): (title: string, body: (...row: Arguments<Row>) => Promise<unknown>, timeout?: number) => void {
  const taken = rows.filter((row) => isLongRun || isUsual(row));
  const left = rows.filter((row) => !taken.includes(row));
  if (taken.length === 0) throw new Error('the usual run takes no row');
  return (title, body, timeout) => {
    test.each(taken as object[])(title, body as never, timeout);
    if (left.length > 0) test.skip.each(left as object[])(`${title} ${MARK}`, body as never);
  };
}
