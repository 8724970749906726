// Lists the guarantees that this run did not check, in its last lines.
module.exports = class SkippedReporter {
  onRunComplete(_contexts, results) {
    const skipped = results.testResults.flatMap((file) =>
      file.testResults
        .filter((test) => test.status === 'pending' || test.status === 'todo')
        .map((test) => test.fullName),
    );
    if (skipped.length > 0)
      console.log(`\nNot checked in this run:\n${skipped.map((name) => `  - ${name}`).join('\n')}`);
  }
};
