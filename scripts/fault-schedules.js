// `npm run test:faults -- --seed 7 --rounds 50`: schedules of faults, one after the other. `--faults 0,2` and
// `--workers 1` keep only those of each schedule, to find what a violation needs.
const { spawnSync } = require('node:child_process');
const { parseArgs } = require('node:util');

const NAMES = ['seed', 'rounds', 'faults', 'workers'];
const { values } = parseArgs({
  options: Object.fromEntries(NAMES.map((name) => [name, { type: 'string' }])),
});
const seed = values.seed ?? String(Math.floor(Math.random() * 1_000_000));
const given = { rounds: '10', ...values, seed };

console.log(
  `Schedules of faults from seed ${seed}. Once more: npm run test:faults -- --seed ${seed} --rounds ${given.rounds}`,
);
const env = Object.fromEntries(
  Object.entries(given).map(([name, value]) => [`HOLDFAST_FAULT_${name.toUpperCase()}`, value]),
);
const jest = require.resolve('jest/bin/jest');
const { status } = spawnSync(process.execPath, [jest, 'tests/fault/schedules/schedules.test.ts'], {
  stdio: 'inherit',
  env: { ...process.env, ...env },
});
process.exitCode = status ?? 1;
