// The run's Temporal server, through the client that everybody uses; and scripted models on disk.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { HoldfastClient } from '../../../client/holdfast-client';

/** What takes longer than this is meant to: on a busy machine Python alone may take a second or two to start. */
export const QUICK_YIELD = { firstOutputMs: 5_000, betweenOutputMs: 1_000, maxMs: 5_000, promptMs: 500 };

const ofRun = (variable: string): string => {
  const value = process.env[variable];
  if (!value) throw new Error('the global setup has not run');
  return value;
};
export const testAddress = (): string => ofRun('HOLDFAST_TEST_ADDRESS');
/** Data folder of the run's server and worker. */
export const testDataDir = (): string => ofRun('HOLDFAST_TEST_DATA');

export const testClient = (): Promise<HoldfastClient> =>
  HoldfastClient.connect({ address: testAddress() }, {});

export const uniqueId = (prefix: string): string => `${prefix}-${randomBytes(4).toString('hex')}`;

export interface Reply {
  text?: string;
  expect?: string;
  delayMs?: number;
  fail?: string;
  /** For the dialect `native`. */
  calls?: { id: string; tool: string; args: object }[];
  usage?: { inputTokens: number; outputTokens: number; costUsd?: number };
}

export { toolCall as call } from '../../../testing/scripted-model';

export interface Scratch {
  directory: string;
  /** The model `scripted:FILE` that gives these replies. */
  model(replies: Reply[]): string;
  /** Settings of an agent with that model, in this folder, that waits only briefly for commands. */
  settings(replies: Reply[]): { model: string; cwd: string; yield: typeof QUICK_YIELD };
  remove(): void;
}

export function scratch(): Scratch {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-scratch-'));
  let files = 0;
  const model = (replies: Reply[]): string => {
    const file = join(directory, `replies-${++files}.yaml`);
    writeFileSync(file, stringify(replies));
    return `scripted:${file}`;
  };
  return {
    directory,
    model,
    settings: (replies) => ({ model: model(replies), cwd: directory, yield: QUICK_YIELD }),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}
