// Runs command lines one after the other: see command-lines.ts.
const { guardOutput } = require('../../../dist/cli/terminal/guarded-output.js');
const { runCommandLine } = require('../../../dist/cli/program.js');

let printed;
for (const name of ['stdout', 'stderr'])
  process[name].write = (chunk, ...rest) => {
    printed[name] += chunk;
    for (const done of rest) if (typeof done === 'function') done();
    return true;
  };
guardOutput();
// Commands leave what they listen to for their process.
process.setMaxListeners(0);

process.on('message', async ({ args, cwd, env }) => {
  printed = { stdout: '', stderr: '' };
  process.env = env;
  process.chdir(cwd);
  const code = await runCommandLine(['node', 'holdfast', ...args]);
  process.send({ code, ...printed });
});
