// A connection from another machine, and what its host does not know at the moment.
import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { AttachConnection } from '../../../../exec/attach/attach-connection';
import type { AuditLog } from '../../../../exec/host/audit-log';
import type { HostAccess } from '../../../../exec/host/host-access';

afterEach(() => jest.useRealTimers());

test('a host that cannot read what it allows, as without file descriptors, ends the connection and lives', () => {
  jest.useFakeTimers();
  const [, far] = duplexPair();
  const access = {
    get current(): never {
      throw new Error('EMFILE: too many open files');
    },
  };
  const ref = { agent: 'a', host: 'local', session: 0 };
  const options = { dataDir: '/', access: access as unknown as HostAccess, audit: {} as AuditLog };
  new AttachConnection(far as Socket, ref, { address: 'elsewhere', pulseMs: undefined }, options).serve();
  jest.advanceTimersByTime(1_000);
  expect(far.destroyed).toBe(true);
});
