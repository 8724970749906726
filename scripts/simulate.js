// `npm run simulate -- --seed 7 --schedules 10000`: plays schedules in the simulation of the protocol until one breaks a
// rule. See docs/simulation.md.
const { parseArgs } = require('node:util');
require('./typescript');
const { simulate, reportOf } = require('../tests/simulation/schedules/simulate');
const { scheduleOf } = require('../tests/simulation/schedules/schedule');
const { storyOf } = require('../tests/simulation/schedules/story');
const { Coverage } = require('../tests/simulation/coverage');
const { PLANTED_FAULTS, withFault } = require('../tests/simulation/planted-faults');
const { shippedCode, shippedText, WorkflowCode } = require('../tests/simulation/worker/workflow-code');

const HELP = `Plays schedules of requests and faults against the shipped workflows, in a simulated Temporal.

  npm run simulate -- [--seed N] [--schedules M] [--minutes T] [--trace] [--coverage]

  --seed N        the seed of the first schedule; each next one has the next seed. Default: a new one
  --schedules M   how many, unless one breaks a rule. Default 2000; with --trace 1
  --minutes T     the longest time. Default: as long as it takes
  --trace         print all that happens in each schedule
  --coverage      afterwards, which branches of the workflows these schedules took, for each file
  --planted       takes guards out of the workflows, one at a time, and says after how many schedules each is missed

Exits with 1 if a rule was broken: then the seed, the rule and the shortest story that breaks it are printed.`;

const OPTIONS = {
  seed: { type: 'string' },
  schedules: { type: 'string' },
  minutes: { type: 'string' },
  trace: { type: 'boolean', default: false },
  coverage: { type: 'boolean', default: false },
  planted: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
};

/** A whole number, or a limit without one. Ends the program for anything else. */
function numberOf(name, text, fallback) {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  console.error(`--${name}: got ${text}, allowed a number of at least 0.`);
  process.exit(64);
}

async function main() {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) return console.log(HELP);
  const seed = numberOf('seed', values.seed, Math.floor(Math.random() * 1_000_000_000));
  const schedules = numberOf('schedules', values.schedules, values.trace ? 1 : 2_000);
  const withinMs = numberOf('minutes', values.minutes, Infinity) * 60_000;
  if (values.planted) return findPlanted({ seed, schedules, withinMs });
  const coverage = values.coverage ? new Coverage() : undefined;
  coverage?.start();
  const code = shippedCode();
  console.log(`Schedules from seed ${seed}.`);
  if (values.trace)
    for (let at = seed; at < seed + schedules; at++) console.log(await storyOf(scheduleOf(at), code, true));
  const began = performance.now();
  let played = 0;
  const progress = (count) => {
    played = count;
    if (count % 500 === 0) console.log(`${count} schedules, ${perMinute(count, began)} a minute`);
  };
  const found = await simulate({ code, seed, schedules, withinMs, progress });
  if (found) {
    console.error(reportOf(found));
    process.exitCode = 1;
  } else console.log(`${played} schedules broke no rule: ${perMinute(played, began)} a minute.`);
  if (coverage) console.log(coverage.report());
}

/** Exits with 1 if a missing guard was not found. */
async function findPlanted(limits) {
  for (const fault of PLANTED_FAULTS) {
    const code = new WorkflowCode(withFault(shippedText(), fault));
    const found = await simulate({ ...limits, code, shrinks: false });
    const result = found ? `${found.played} schedules, by the rule "${found.violation.rule}"` : 'not found';
    console.log(`${fault.name}: ${result}`);
    if (!found) process.exitCode = 1;
  }
}

const perMinute = (count, began) => Math.round((count * 60_000) / (performance.now() - began));

void main();
