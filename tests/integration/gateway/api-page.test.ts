// The examples of docs/api.md, as a reader runs them.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath } from '../../../system/executable';
import { docBlocks, type DocBlock } from '../../helpers/docs/doc-blocks';
import { GatewayOfItsOwn } from '../../helpers/gateway/gateway-of-its-own';
import { isLongRun } from '../../helpers/run/long-run';

const own = new GatewayOfItsOwn();
const { files } = own;
beforeAll(() => own.start(), 60_000);
afterAll(() => own.end(), 60_000);

const blocks = docBlocks('api.md');
const block = (language: string): DocBlock => {
  const found = blocks.find((one) => one.language === language);
  if (!found) throw new Error(`no example in ${language}`);
  return found;
};

test('each example is run here, but for those that are named', () => {
  const ofReader = blocks.filter(({ language }) => !['text', 'toml'].includes(language));
  expect(ofReader.map(({ title, language }) => `${title}: ${language}`)).toEqual([
    // Not run: `GatewayOfItsOwn` does it.
    ': sh',
    'An agent, with curl: bash',
    'A session, with Python: python',
    'What waits for a person, with Go: go',
    // Not run: generated-client.test.ts drives a longer program with the same client.
    'A generated client: sh',
    'A generated client: ts',
    // Not run: the steps of its agent have no checkpoint.
    'What an agent did to files: sh',
    'Files: bash',
  ]);
});

function run(program: string, args: string[]): Promise<string> {
  const env = {
    ...process.env,
    HOLDFAST_URL: own.gateway.url,
    HOLDFAST_TOKEN: own.api.token ?? '',
    MODEL: files.model([{ text: '12 lines' }, { text: '40 words' }]),
  };
  return new Promise((resolve, reject) => {
    execFile(program, args, { env, cwd: files.directory }, (err, stdout, stderr) =>
      err ? reject(new Error(`${err.message}\n${stdout}\n${stderr}`)) : resolve(stdout),
    );
  });
}

test('the example with curl starts an agent, reads its messages, and stops it', async () => {
  const printed = await run('bash', ['-eu', '-c', block('bash').code]);
  expect(printed).toContain('{"agent":"ci-release-7"}');
  expect(printed).toContain('12 lines');
});

test('the example of files uploads one, asks how much of it is there, and downloads its beginning', async () => {
  await own.api.post('/v1/agents', { id: 'ci-build', task: 'x', ...files.settings([{ text: 'done' }]) });
  const [, ofFiles] = blocks.filter((one) => one.language === 'bash');
  const printed = await run('bash', ['-eu', '-c', ofFiles?.code ?? '']);
  expect(printed).toMatch(/\{"bytes":\d+\}/);
  expect(printed).toMatch(/1\n2\n3\n4\n5\n6\n$/);
});

test('the example with Python runs a command and answers its question', async () => {
  expect(await run('python3', ['-c', block('python').code])).toBe(block('python').output);
});

// Go compiles its standard library first, which takes minutes of a small machine.
const hasGo = isLongRun && findOnPath('go', process.env.PATH) !== undefined;
(hasGo ? test : test.skip)(
  `the example with Go reads what waits${hasGo ? '' : ' (not checked: it is in the long run, where Go is installed)'}`,
  async () => {
    const file = join(files.directory, 'main.go');
    writeFileSync(file, block('go').code);
    expect(await run('go', ['run', file])).toMatch(/^200 OK \d+ waiting\n$/);
  },
  600_000,
);
