// What a program passes to make workers, and the check of it.
import { CHECKPOINTS_ENABLED, type CheckpointSettings } from '../contracts/workspaces/settings';
import type { ModelProviders } from '../models/providers';
import type { Tool } from '../tools/tool';
import {
  ANY,
  BOOLEAN,
  checkOptions,
  CONVERTER,
  FOLDER,
  FUNCTIONS,
  oneOf,
  rule,
  TEXT,
  TEXTS,
  withMethods,
  type Rule,
} from './checked-options';
import type { ConnectOptions } from './server-connection';
import { MAX_DRAIN_MS } from './worker-stop';
import type { WorkersLog } from './workers';

export interface WorkersOptions extends ConnectOptions {
  /** Folder for shell logs and journals; created if missing. One worker per host and folder. */
  dataDir: string;
  /** The host whose shells run here, default `local`; null for agents alone. */
  host?: string | null | undefined;
  /** False: this process serves its host but no agents, as on a machine that only runs shells. Default true. */
  agents?: boolean | undefined;
  /** Serves agents even if other workers of the queue have a different offer, as while a change is rolled out. */
  join?: boolean | undefined;
  /** `ADDRESS:PORT` on which a host accepts connections for `attach` and live output. Default: none. */
  listen?: string | undefined;
  /** Working folder of new shells; created if missing. Default: `work` in the data folder. */
  workdir?: string | undefined;
  /** Variables of new shells, besides PATH, HOME, USER, language and time zone of this process. */
  env?: Readonly<Record<string, string>> | undefined;
  /** A `holdfast.toml`. Default: the data folder's, if it exists. */
  config?: string | undefined;
  /** Tools besides the built-in ones and those of the configuration. */
  tools?: readonly Tool[] | undefined;
  /** Model providers besides the built-in ones: `{ mine: (name) => provider }` serves the model `mine:NAME`. */
  models?: ModelProviders | undefined;
  /** Which workspaces have checkpoints. Default: as the configuration says. */
  checkpoints?: CheckpointSettings['enabled'] | undefined;
  /** How long steps may take to end once the workers are asked to stop, in milliseconds. Default: 2,000. */
  drainMs?: number | undefined;
  /** Default: the logger of the SDK's Runtime. */
  log?: WorkersLog | undefined;
}

const RULES = {
  dataDir: FOLDER,
  host: rule('an id, or null for none', (value) => value === null || typeof value === 'string'),
  agents: BOOLEAN,
  join: BOOLEAN,
  listen: TEXT,
  workdir: FOLDER,
  env: TEXTS,
  config: TEXT,
  tools: ANY,
  models: FUNCTIONS,
  checkpoints: oneOf(CHECKPOINTS_ENABLED),
  drainMs: rule(
    `milliseconds, from 0 to ${MAX_DRAIN_MS}`,
    (value) => typeof value === 'number' && value >= 0 && value <= MAX_DRAIN_MS,
  ),
  log: withMethods('a logger with info() and warn()', 'info', 'warn'),
  address: TEXT,
  namespace: TEXT,
  profile: TEXT,
  connection: withMethods('a NativeConnection', 'close'),
  dataConverter: CONVERTER,
  queue: TEXT,
} satisfies Record<keyof WorkersOptions, Rule>;

/** Throws `invalid_input` with every fault. */
export const checkWorkersOptions = (options: unknown): void =>
  checkOptions('createWorkers()', options, RULES, ['dataDir']);
