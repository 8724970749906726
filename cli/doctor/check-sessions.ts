// `holdfast doctor` on the open sessions of this machine: whether their holders respond and can be found.
import { existsSync } from 'node:fs';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../contracts/ids';
import { HolderConnections } from '../../exec/client/holder-connections';
import { listSessions } from '../../exec/session-paths';

interface Found {
  status: 'ok' | 'warn' | 'fail';
  found: string;
  next?: string;
}

/** One line each for the holders and for their sockets. */
export async function checkSessions(dataDir: string): Promise<{ holders: Found; sockets: Found }> {
  const connections = new HolderConnections(dataDir);
  try {
    const open = listSessions(dataDir).filter((ref) => connections.processOf(ref));
    return { sockets: socketsOf(connections, open), holders: await holdersOf(connections, open) };
  } catch (err) {
    const fault: Found = {
      status: 'fail',
      found: reasonOf(err),
      next: 'allow this user to read the data folder',
    };
    return { holders: fault, sockets: fault };
  } finally {
    connections.closeAll();
  }
}

async function holdersOf(connections: HolderConnections, open: SessionRef[]): Promise<Found> {
  const faults = await Promise.all(open.map((ref) => faultOf(connections, ref)));
  const silent = faults.filter((fault) => fault !== undefined);
  const found = `${open.length - silent.length} of ${open.length} open sessions respond`;
  const [first] = silent;
  if (!first) return { status: 'ok', found };
  return { status: 'fail', found: [found, ...silent.map(({ line }) => line)].join('; '), next: first.next };
}

async function faultOf(
  connections: HolderConnections,
  ref: SessionRef,
): Promise<{ line: string; next: string } | undefined> {
  try {
    await connections.ask(ref, 'status', {});
    return undefined;
  } catch (err) {
    const { facts = {}, next = 'run `holdfast doctor` again' } = err instanceof HoldfastError ? err : {};
    const why = facts.state ?? reasonOf(err);
    return { line: `session ${ref.session} of ${ref.agent} (pid ${facts.pid ?? '?'}): ${why}`, next };
  }
}

function socketsOf(connections: HolderConnections, open: SessionRef[]): Found {
  const missing = open.filter((ref) => {
    const record = connections.holderOf(ref);
    return record && !existsSync(record.socketPath);
  });
  if (missing.length === 0) return { status: 'ok', found: `${open.length} of ${open.length} are there` };
  const names = missing.map(({ agent, session }) => `${session} of ${agent}`).join(', ');
  return {
    status: 'warn',
    found: `gone for session ${names}`,
    next: 'their holders recreate them within a second or two; check again',
  };
}
