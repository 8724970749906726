// What a host refuses for years must not fill its disk.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AuditLog, type AuditEntry } from '../../../exec/host/audit-log';

const LIMITS = { fileBytes: 2_000, files: 3 };
let data: string;
beforeEach(() => (data = mkdtempSync(join(tmpdir(), 'holdfast-audit-'))));
afterEach(() => rmSync(data, { recursive: true, force: true }));

const refused = (agent: string): AuditEntry => ({
  ...{ what: 'runCommand', outcome: 'refused', why: 'policy_denied', agent, host: 'any', session: 0 },
});
const failed = (message: string): never => {
  throw new Error(message);
};

test('the audit log of a host keeps its latest lines in a few files, and leaves those of other hosts alone', () => {
  const neighbours = ['pi-1', 'pi2'];
  for (const host of neighbours) new AuditLog(data, host, failed, LIMITS).write(refused('neighbour'));
  const log = new AuditLog(data, 'pi', failed, LIMITS);
  for (let number = 0; number < 200; number++) log.write(refused(`a${number}`));
  const own = readdirSync(data).filter((name) => /^audit\.pi\.(\d+\.)?jsonl$/.test(name));
  expect(own).toHaveLength(LIMITS.files);
  expect(own.every((name) => statSync(join(data, name)).size < 2 * LIMITS.fileBytes)).toBe(true);
  const agents = own.flatMap((name) =>
    readFileSync(join(data, name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => Number((JSON.parse(line) as AuditEntry).agent.slice(1))),
  );
  const inOrder = agents.sort((a, b) => a - b);
  expect(inOrder).toEqual(inOrder.map((_, index) => 200 - inOrder.length + index));
  for (const host of neighbours) expect(readdirSync(data)).toContain(`audit.${host}.jsonl`);
});
