// Looks at a model's name and key before anything is started.
import { resolve } from 'node:path';
import { resolveServer } from '../client/connect';
import { HoldfastError } from '../contracts/errors';
import { createProviders } from '../models/providers';
import { configurationSource, readConfiguration } from '../workers/configuration';
import { recordedConfig } from '../workers/recorded-choice';
import { runningWorker } from '../workers/worker-record';
import { configOf, dataDirOf, type GlobalOptions } from './context';

/** Throws what the provider's check throws, `model_unknown` and `config_invalid`. */
export async function checkModel(options: GlobalOptions, model: string): Promise<void> {
  const dataDir = dataDirOf(options);
  const named = configOf(options);
  const config = (named === undefined ? recordedConfig(dataDir) : named) ?? undefined;
  try {
    const { models } = readConfiguration(configurationSource({ dataDir, config }));
    await createProviders({}, models)(model).check?.();
  } catch (err) {
    // A worker that runs already, here or elsewhere, has an environment of its own and the configuration it began with.
    const hasWorker =
      runningWorker(dataDir) !== undefined || resolveServer(options, process.env).isConfigured;
    const isWorkers = err instanceof HoldfastError && ['model_auth', 'config_invalid'].includes(err.code);
    if (!isWorkers || !hasWorker) throw err;
  }
}

/** The worker has another working folder than we: the file of a scripted model must be named in full. */
export function modelInFull(model: string): string {
  const file = /^scripted:(.+)$/s.exec(model)?.[1];
  return file ? `scripted:${resolve(file)}` : model;
}
