// What tokens may be made.
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

const operator = { role: 'operator', agents: ['*'] } as const;
const person = (id: string) => ({ id: `oidc:${id}`, name: id, ...operator });
const stored = (): { kind: string; from?: string }[] => JSON.parse(readFileSync(file(), 'utf8')) as never;

test('a person of the issuer logs in again once the roles of the configuration are others', async () => {
  const before = new TokenStore(dataDir, 'rules of yesterday');
  const { token } = await before.logInAs(person('ada'), 60_000);
  expect(before.callerWith(token, ['browser'])).toMatchObject({ id: 'oidc:ada', role: 'operator' });
  for (const now of [new TokenStore(dataDir, 'rules of today'), new TokenStore(dataDir)])
    expect(now.callerWith(token, ['browser'])).toBeUndefined();
  const own = await before.create({ name: 'program', ...operator, validMs: null });
  expect(new TokenStore(dataDir, 'rules of today').callerWith(own.token, ['token'])).toBeDefined();
});

test('log-ins take no places of tokens, and at their limit the oldest ends in place of refusing a new one', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const many = Array.from({ length: 5_000 }, (_, index) => ({
    ...{ id: `b${index}`, kind: 'browser', name: 'x', ...operator, from: `oidc:${index}` },
    ...{ createdAt: expiresAt, expiresAt, hash: `${index}` },
  }));
  await store.create({ name: 'first', ...operator, validMs: null });
  writeFileSync(file(), JSON.stringify([...stored(), ...many]));
  await store.create({ name: 'second', ...operator, validMs: null });
  await store.logInAs(person('new'), 60_000);
  const people = stored().filter(({ kind }) => kind === 'browser');
  expect(people).toHaveLength(5_000);
  expect([people.at(0)?.from, people.at(-1)?.from]).toEqual(['oidc:1', 'oidc:new']);
  expect(store.list().map(({ name }) => name)).toEqual(['first', 'second']);
});
