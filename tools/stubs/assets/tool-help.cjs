// What `tool --help` and `tool NAME --help` print.
'use strict';
const { describe } = require('./tool-options.cjs');

/** Removes everything in untrusted text that could move the cursor. */
const plain = (text) =>
  // eslint-disable-next-line no-control-regex
  String(text ?? '')
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', '    ')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');

/** The same on one line. */
const oneLine = (text) => plain(text).replace(/\s+/g, ' ');

/** Up to the first full stop, on one line. */
const firstSentence = (text) =>
  (/^.*?[.!?](?=\s|$)/s.exec(plain(text).trim())?.[0] ?? plain(text)).replace(/\s+/g, ' ').slice(0, 200);

const EFFECTS = {
  read_only: 'It only reads.',
  idempotent: 'A second call with the same arguments changes nothing more.',
  once: 'Every call repeats its effect.',
};

const GENERAL = `Arguments:
  --NAME VALUE, --NAME=VALUE   text is used as is; numbers are checked; objects are JSON
  --NAME, --no-NAME            true or false
  --NAME A --NAME B            a list; or one JSON array
  --NAME-from FILE             the value is the file's content; - is standard input
  --json JSON                  all arguments as one object; - is standard input; other options are added to it
Output: text as is (with a final newline on a terminal), anything else as JSON.
  --raw-json                   always JSON on one line, errors too
Exit status: 0 the call succeeded, 1 it failed, 64 usage, 69 the tools cannot be reached,
  75 it failed and may succeed later. Errors go to standard error as "code: message".
`;

function overview(tools) {
  const width = Math.min(Math.max(0, ...tools.map(({ name }) => plain(name).length)), 40);
  const lines = tools.map(
    ({ name, description }) => `  ${plain(name).padEnd(width)}  ${firstSentence(description)}`,
  );
  return `Usage: tool NAME [--ARGUMENT VALUE]...\n       tool NAME --help\n\nTools:\n${lines.join('\n')}\n\n${GENERAL}`;
}

function toolHelp(tool) {
  const { properties = {}, required = [] } = tool.parameters;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const facts = [describe(schema, tool.parameters)];
    if (required.includes(name)) facts.push('required');
    else if (schema?.default !== undefined) facts.push(`default ${JSON.stringify(schema.default)}`);
    const about = plain(schema?.description).trim().replaceAll('\n', '\n      ');
    return `  --${oneLine(name)}  (${oneLine(facts.join(', '))})${about === '' ? '' : `\n      ${about}`}`;
  });
  const named = lines.length > 0 ? `Its arguments:\n${lines.join('\n')}\n\n` : 'It has no arguments.\n\n';
  const effects = EFFECTS[tool.effects] ?? '';
  return `Usage: tool ${plain(tool.name)} [--ARGUMENT VALUE]...\n\n${plain(tool.description).trim()}\n${effects}\n\n${named}${GENERAL}`;
}

module.exports = { overview, plain, toolHelp };
