// What tokens may be made, and what those of earlier releases still allow.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TokenStore } from '../../../gateway/access/token-store';

let dataDir: string;
let store: TokenStore;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-tokens-'));
  store = new TokenStore(dataDir);
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const file = (): string => join(dataDir, 'gateway', 'tokens.json');

test.each([[['team-a-*']], [['a', 'b-*']], [['**']]])(
  'an admin of %j is refused: one could make tokens for all agents',
  async (agents) => {
    const made = store.create({ name: 'a', role: 'admin', agents, validMs: null });
    await expect(made).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(agents.join(', ')) as string,
    });
    expect(store.list()).toEqual([]);
  },
);

test('an admin of some agents that an earlier release made is an operator of these agents', async () => {
  const { token } = await store.create({
    name: 'old',
    role: 'operator',
    agents: ['team-a-*'],
    validMs: null,
  });
  const text = readFileSync(file(), 'utf8').replace('"operator"', '"admin"');
  writeFileSync(file(), text);
  const old = new TokenStore(dataDir);
  const operator = { role: 'operator', agents: ['team-a-*'] };
  expect(old.callerWith(token, ['token'])).toMatchObject(operator);
  expect(old.list()).toMatchObject([operator]);
  expect((await old.logIn(token)).caller).toMatchObject(operator);
});
