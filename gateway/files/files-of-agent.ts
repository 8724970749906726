// Where the files of an agent are: on which host, in which folder, and how they are reached.
import { existsSync } from 'node:fs';
import type { HoldfastClient } from '../../client/holdfast-client';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { openFiles, type FilesAddress } from '../../exec/transfer/door/files-client';
import { filesSocket } from '../../exec/transfer/door/files-door';
import type { Channel } from '../../exec/transfer/channel';
import type { FilesRequest, Name } from '../../exec/transfer/transfer-messages';
import { pathOf } from '../../exec/transfer/names';

export interface FilesOwner {
  agent: string;
  /** Null: the agent's. */
  host: string | null;
}

export interface FilesAccess {
  client: HoldfastClient;
  dataDir: string;
  /** The token of a listening host. */
  token: string | undefined;
  /** The host of an agent that the server does not know: it may have sessions. */
  ownHost: string;
  /** Whether a host is on this machine, even if nothing serves it now. */
  isLocal: (host: string) => boolean;
  /** Whether the data folder has a host of this name that is another machine's. */
  isElsewhere: (host: string) => boolean;
}

/** The agent's files on one host. */
export interface AgentFiles {
  agent: string;
  host: string;
  /** The agent's working folder there; null: the host's. */
  base: Name | null;
}

/** What is asked for, without the folder that its path begins in. */
export type Asked = FilesRequest extends infer One
  ? One extends FilesRequest
    ? Omit<One, 'base'>
    : never
  : never;

/** Throws `no_server` and the like. */
export async function filesOf({ client, ownHost }: FilesAccess, owner: FilesOwner): Promise<AgentFiles> {
  const { agent } = owner;
  const state = await client
    .agent(agent)
    .ownState()
    .catch((err: unknown) => {
      // Of sessions without an agent, as `holdfast exec` opens them.
      if (err instanceof HoldfastError && err.code === 'not_found') return undefined;
      throw err;
    });
  const host = owner.host ?? state?.host ?? ownHost;
  const cwd = state?.host === host ? state.settings.cwd : undefined;
  return { agent, host, base: cwd === undefined ? null : pathOf(cwd) };
}

/** Throws `files_unreachable`, `unknown_host`, `attach_refused`, and what the host refuses it with. */
export async function openFilesOf(
  access: FilesAccess,
  { agent, host, base }: AgentFiles,
  asked: Asked,
): Promise<Channel> {
  const request: FilesRequest = { ...asked, base };
  return openFiles(await addressOf(access, host), { agent, host, request });
}

async function addressOf(
  { client, dataDir, token, isLocal, isElsewhere }: FilesAccess,
  host: string,
): Promise<FilesAddress> {
  // Whatever serves the host from this data folder is on this machine.
  if (isLocal(host) || (!isElsewhere(host) && existsSync(filesSocket(dataDir, host)))) return { dataDir };
  const { status, facts } = await client.hosts.state(host);
  if (status !== 'online')
    throw unreachable(host, 'it is offline', `Start it: \`holdfast host serve ${host}\` there.`);
  const { listens } = facts ?? {};
  if (!listens) throw unreachable(host, 'it was started without --listen');
  if (token === undefined)
    throw unreachable(
      host,
      'no token of it is given',
      `Give the token that \`holdfast host token ${host}\` prints there, in HOLDFAST_HOST_TOKEN or with --token-file.`,
    );
  return { host, listens, token };
}

const unreachable = (host: string, reason: string, next?: string): HoldfastError =>
  new HoldfastError('files_unreachable', { host, reason, ...(next !== undefined && { next }) });
