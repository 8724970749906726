// The command `tool`: calls a tool from a shell.
'use strict';
const { ToolError, invoke, isText, manifest } = require('./runtime.cjs');
const { UsageError, readOptions } = require('./tool-options.cjs');
const { overview, plain, toolHelp } = require('./tool-help.cjs');

const EXIT = { failed: 1, usage: 64, unavailable: 69, retryable: 75 };

// The reader has closed its end, as in `tool NAME | head -1`.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (err) => {
    if (err.code !== 'EPIPE') throw err;
    process.exit();
  });

function findTool(name) {
  const tools = manifest();
  const found = tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.function === name);
  if (found) return found;
  if (tools.length === 0)
    throw new ToolError(
      'tools_unavailable',
      'No tools are described here. Next: run it in a Holdfast session.',
    );
  const all = tools.map((tool) => plain(tool.name)).join(', ');
  throw new UsageError(`no tool has this name: got ${name}, allowed ${all}`);
}

function output(value, isRaw) {
  const isTerminal = process.stdout.isTTY;
  if (!isRaw && typeof value === 'string') return isTerminal && !value.endsWith('\n') ? `${value}\n` : value;
  return `${JSON.stringify(value, null, isTerminal && !isRaw ? 2 : undefined)}\n`;
}

async function run(words) {
  const name = words[0];
  if (name === undefined || name === '--help' || name === '-h') return overview(manifest());
  if (name === '--raw-json') return `${JSON.stringify(manifest())}\n`;
  const tool = findTool(name);
  const { args, switches } = readOptions(tool, words.slice(1));
  if (switches.help) return toolHelp(tool);
  return output(await invoke(tool.name, isText(tool), args), switches['raw-json'] === true);
}

function fail(err, isRaw) {
  if (!(err instanceof UsageError || err instanceof ToolError)) throw err;
  const code = err.code ?? 'usage';
  const { message, retryable = false, callId = null } = err;
  const help = err instanceof UsageError ? '\nSee tool --help, tool NAME --help.' : '';
  const text = isRaw
    ? JSON.stringify({ code, message, retryable, callId })
    : `${code}: ${plain(message)}${help}`;
  process.stderr.write(`${text}\n`);
  if (code === 'usage') process.exitCode = EXIT.usage;
  else if (code === 'tools_unavailable') process.exitCode = EXIT.unavailable;
  else process.exitCode = retryable ? EXIT.retryable : EXIT.failed;
}

const words = process.argv.slice(2);
run(words).then(
  (text) => void process.stdout.write(text),
  (err) => fail(err, words.includes('--raw-json')),
);
