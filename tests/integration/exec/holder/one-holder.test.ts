// A session has one holder, however many ask for it at the same time.
import { SecretStore } from '../../../../exec/host/secret-store';
import { holderRecord } from '../../../helpers/terminals/holder-record';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace, processesMarked } from '../session-processes';

/** A secret that is given out when the test says so. */
class SlowSecrets extends SecretStore {
  give!: () => void;
  private isAsked!: () => void;
  readonly asked = new Promise<void>((resolve) => (this.isAsked = resolve));
  private readonly given = new Promise<void>((resolve) => (this.give = resolve));

  constructor() {
    super({ env: { SLOW: 'swordfish-4711' } });
  }

  override async forText(asker: Parameters<SecretStore['forText']>[0]): Promise<Record<string, string>> {
    if (asker.text.includes('SLOW')) {
      this.isAsked();
      await this.given;
    }
    return super.forText(asker);
  }
}

let t: TestHost;
let secrets: SlowSecrets;
beforeEach(() => (t = testHost({ secrets: (secrets = new SlowSecrets()) })));
afterEach(() => endWithoutTrace(t));

/** Their command lines end with the session's folder. */
const holders = (): number =>
  processesMarked(t.dataDir).filter((line) => /holder\.js \S+$/.test(line)).length;

test.each([
  ['is opened', (): Promise<unknown> => t.host.open(t.ref, null)],
  ['runs another command', (): Promise<unknown> => t.run('echo other')],
])(
  'a session that %s while a command waits for its secret keeps its holder, which runs that command, too',
  async (_what, meanwhile) => {
    const waits = t.host.run(t.ref, { id: 'slow', runtime: 'terminal', code: 'echo "{{secret:SLOW}}"' });
    await secrets.asked;
    await meanwhile();
    const { identity } = holderRecord(t, t.ref);
    secrets.give();
    await waits;
    expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({
      commandId: 'slow',
      state: 'exited',
      exitCode: 0,
    });
    expect(holderRecord(t, t.ref).identity).toEqual(identity);
    expect(holders()).toBe(1);
  },
);

test('a command that is given up while its holder takes its secret is not handed over', async () => {
  secrets.give();
  let looks = 0;
  const mayBegin = (): void => {
    if (++looks > 1) throw new Error('given up');
  };
  const request = { id: 'late', runtime: 'terminal', code: 'touch ran # {{secret:SLOW}}', mayBegin } as const;
  await expect(t.host.run(t.ref, request)).rejects.toThrow('given up');
  expect(t.host.commandRecord(t.ref, 'late')).toBeUndefined();
  expect((await t.run('ls')).output).toBe('');
});
