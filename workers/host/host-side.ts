// The part that serves a host: its claim, its sessions, their sandbox and the host's worker.
import { join } from 'node:path';
import { isHostNamespace } from '../../contracts/ids';
import type { ClaimFacts } from '../../contracts/sessions/claims';
import { Sandbox } from '../../exec/sandbox/sandbox';
import type { Terminals } from '../../exec/terminals';
import type { OfferedTools } from '../../tools/offered-tools';
import type { Configuration } from '../configuration/configuration';
import { endUnused } from '../worker-stop';
import { HostClaim } from './host-claim';
import { createHostWorker, type HostWorker, type HostWorkerOptions } from './host-worker';
import { OfferLooks } from './offer-looks';
import type { SessionParts } from './open-sessions';
import { PublishedStubs } from './published-stubs';

export interface HostSideOptions extends Omit<
  HostWorkerOptions,
  'ownership' | 'sessions' | 'sandbox' | 'logBytes' | 'keepMs' | 'checkpoints' | 'offers' | 'stubs'
> {
  facts: ClaimFacts;
  dataDir: string;
  configuration: Configuration;
  /** Real sessions, or a test's substitute. */
  open: (parts: SessionParts) => Promise<Terminals>;
  secrets: SessionParts['secrets'];
  loaded: SessionParts['loaded'];
  /** Tools of the agents' worker, if that is another process. */
  elsewhere: OfferedTools | undefined;
  /** Collects cleanups, in case a later step fails. */
  made: (() => unknown)[];
}

export interface HostSide {
  ownership: HostClaim;
  hostWorker: HostWorker;
}

/** Throws `host_taken` if the host belongs to another data folder. */
export async function createHostSide({
  facts,
  dataDir,
  configuration,
  open,
  secrets,
  loaded,
  elsewhere,
  made,
  ...shared
}: HostSideOptions): Promise<HostSide> {
  const { client, host, namespace, tools, log } = shared;
  const ownership = await HostClaim.make({ claims: client.claims, host, facts, warn: log });
  made.push(() => (ownership.isNew ? ownership.release() : undefined));
  // In a separate trust domain a script's call of our tools would go unanswered.
  const mayCall = configuration.features.unifiedExec && !isHostNamespace(namespace);
  const offers =
    mayCall && elsewhere ? new OfferLooks({ client, host, dataDir, source: elsewhere, log }) : undefined;
  offers?.load();
  const stubs = mayCall
    ? new PublishedStubs({ folder: join(dataDir, 'stubs', host), tools, log })
    : undefined;
  const { sandbox: choice, storage } = configuration;
  const logBytes = storage.sessionLogBytes;
  const sessions = await open({ client, stubs: stubs?.folder, secrets, sandbox: choice, loaded, logBytes });
  made.push(() => sessions.endSpare());
  const profile = sessions.options.sandbox;
  const sandbox = profile && (await Sandbox.open(profile));
  made.push(() => sandbox?.close());
  const hostWorker = await createHostWorker({
    ...shared,
    ownership,
    sessions,
    logBytes: storage.hostLogBytes,
    keepMs: storage.closedSessionMs,
    checkpoints: configuration.checkpoints,
    sandbox,
    offers,
    stubs,
  });
  made.push(() => hostWorker.detach());
  made.push(() => endUnused(hostWorker.worker));
  return { ownership, hostWorker };
}
