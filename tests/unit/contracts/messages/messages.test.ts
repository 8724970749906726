// docs/messages.md lists what is in contracts/messages: `UPDATE_DOCS=1 npx jest tests/unit/contracts/messages/messages` writes
// its table and its list of schemas anew.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { descriptionOf, isPublic, type AnyMessage } from '../../../../contracts/messages/message';
import { parseRequest } from '../../../../contracts/schemas/parse-request';
import { kindsOf, MESSAGE_TABLES } from '../../../helpers/docs/message-tables';
import { SCHEMAS } from '../../../helpers/docs/schemas';

const PAGE = join(__dirname, '..', '..', '..', '..', 'docs', 'messages.md');
const TABLE = /^\| workflow [^]*?\n(?=\n)/m;
const LIST = /^- \[error\][^]*$/m;

const named = MESSAGE_TABLES.flatMap(({ prefix, messages }) =>
  Object.entries(messages).map(([key, message]): [string, AnyMessage] => [`${prefix}.${key}`, message]),
);
const ofAnyone = named.filter(([, message]) => isPublic(message));
const code = (text: string): string => `\`${text}\``;

/** Aligned as Prettier does it. */
function tableOf(rows: string[][]): string {
  const widths = rows[0]?.map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[], fill = ' '): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths?.[column] ?? 0, fill)).join(' | ')} |\n`;
  const [head = [], ...body] = rows;
  return [
    line(head),
    line(
      head.map(() => ''),
      '-',
    ),
    ...body.map((row) => line(row)),
  ].join('');
}

const rows = MESSAGE_TABLES.flatMap(({ workflows, messages }) =>
  Object.values(messages)
    .filter(isPublic)
    .map((message, index) => [
      index === 0 ? workflows.map(code).join(', ') : '',
      `${kindsOf(message).join(' or ')} ${code(message.name)}`,
      message.does,
      (message.examples ?? []).map((example) => code(JSON.stringify(example))).join(' or ') || 'no data',
    ]),
);
const table = tableOf([['workflow', 'message', 'what it does', 'data'], ...rows]);
const list = Object.entries(SCHEMAS)
  .map(
    ([name, { title }]) =>
      `- [${name}](schemas/${name}.json): ${title.charAt(0).toLowerCase()}${title.slice(1)}\n`,
  )
  .join('');

if (process.env.UPDATE_DOCS)
  writeFileSync(
    PAGE,
    readFileSync(PAGE, 'utf8')
      .replace(TABLE, () => table)
      .replace(LIST, () => list),
  );

test('docs/messages.md lists each message that anyone may send, with what it does and its examples', () => {
  expect(TABLE.exec(readFileSync(PAGE, 'utf8'))?.[0]).toBe(table);
});

test('docs/messages.md names the schema of each request and each answer', () => {
  expect(LIST.exec(readFileSync(PAGE, 'utf8'))?.[0]).toBe(list);
});

test.each(ofAnyone)('the examples of %s are accepted as they are', (_name, message) => {
  const examples = message.examples ?? [];
  expect(examples.map((example) => parseRequest(message, example))).toEqual(examples);
  // Without a schema nothing would have been checked.
  expect(examples.length > 0).toBe(message.request !== undefined);
});

test('whatever anyone may ask for has an answer that is documented', () => {
  const silent = ofAnyone.filter(
    ([, { kinds, answer }]) => !('signal' in kinds && !('update' in kinds)) && !answer,
  );
  // These hand the request on.
  expect(silent.map(([name]) => name)).toEqual(['agent.approve', 'agent.deny']);
});

test('what only one of ours sends says so in its description', () => {
  const others = named
    .filter(([, message]) => !isPublic(message))
    .map(([, message]) => descriptionOf(message));
  expect(others.length).toBeGreaterThan(5);
  expect(others.filter((text) => !text.startsWith('Internal, from '))).toEqual([]);
});
