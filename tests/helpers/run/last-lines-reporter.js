// The last lines of a run: what took longest, and which guarantees it did not check or checked with small counts.
// `.ci/run` names a file for them and repeats them at its own end, and others for the names of the red files and of those
// with something that was not checked, which it runs again with more programs.
const { appendFileSync, writeFileSync } = require('node:fs');
const { relative } = require('node:path');
const { longRunFiles } = require('./test-files');

const SHOWN_FILES = 10;
/** As in long-run.ts. */
const LONG_RUN = ' [long run]';

module.exports = class LastLinesReporter {
  /** @param options `left`: what a run of these files leaves out, a line for each */
  constructor({ rootDir }, { left = [] } = {}) {
    this.rootDir = rootDir;
    this.left = left;
  }

  onRunComplete(_contexts, { testResults, startTime }) {
    const {
      HOLDFAST_TEST_LAST_LINES: lastLines,
      HOLDFAST_TEST_RED: red,
      HOLDFAST_TEST_SKIPPED: again,
    } = process.env;
    if (red) writeFileSync(red, this.namesOf(testResults.filter(isRed)));
    if (again)
      writeFileSync(again, this.namesOf(testResults.filter((file) => notChecked([file]).length > 0)));
    const sections = [
      section(`Slowest of ${testResults.length} files, in ${since(startTime)} s:`, this.slowest(testResults)),
      section(
        'Run with small counts; `npm run test:long` has the full ones:',
        this.withSmallCounts(testResults),
      ),
      section('Only in `npm run test:long`:', this.leftToLongRun(testResults)),
      section('Not checked in this run:', notChecked(testResults)),
      // .ci/run has these, too.
      lastLines ? '' : section('Left out:', this.left),
    ];
    const text = sections.filter(Boolean).join('\n');
    if (!text) return;
    console.log(`\n${text}`);
    if (lastLines && !again) appendFileSync(lastLines, `${text}\n`);
  }

  slowest(files) {
    if (files.length <= SHOWN_FILES) return [];
    const seconds = ({ perfStats }) => (perfStats.end - perfStats.start) / 1_000;
    return files
      .toSorted((a, b) => seconds(b) - seconds(a))
      .slice(0, SHOWN_FILES)
      .map((file) => `${seconds(file).toFixed(0).padStart(4)} s  ${this.nameOf(file)}`);
  }

  withSmallCounts(files) {
    if (process.env.HOLDFAST_TEST_LONG) return [];
    const long = longRunFiles(this.rootDir);
    return files.filter(({ testFilePath }) => long.includes(testFilePath)).map((file) => this.nameOf(file));
  }

  leftToLongRun(files) {
    return files.flatMap((file) =>
      skipped([file])
        .filter((title) => title.endsWith(LONG_RUN))
        .map((title) => `${this.nameOf(file)}: ${title.slice(0, -LONG_RUN.length)}`),
    );
  }

  namesOf(files) {
    return files.map((file) => `${this.nameOf(file)}\n`).join('');
  }

  nameOf({ testFilePath }) {
    return relative(this.rootDir, testFilePath);
  }
};

const since = (startTime) => ((Date.now() - startTime) / 1_000).toFixed(0);

/** Also a file that did not get as far as its tests. */
const isRed = ({ numFailingTests, testExecError }) => numFailingTests > 0 || Boolean(testExecError);

const skipped = (files) =>
  files.flatMap((file) =>
    file.testResults
      .filter(({ status }) => status === 'pending' || status === 'todo')
      .map(({ fullName }) => fullName),
  );

const notChecked = (files) => skipped(files).filter((title) => !title.endsWith(LONG_RUN));

const section = (title, lines) =>
  lines.length > 0 ? `${title}\n${lines.map((line) => `  - ${line}\n`).join('')}` : '';
