// Looks at a model's name and key before anything is started.
import { resolve } from 'node:path';
import { resolveServer } from '../client/connect';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { createProviders } from '../models/providers';
import { workersConfiguration } from '../workers/configuration/configuration';
import { runningWorker } from '../workers/process/worker-record';
import { configOf, dataDirOf, type GlobalOptions } from './global-options';

/** Throws what the provider's check throws, `model_unknown` and `config_invalid`. */
export async function checkModel(options: GlobalOptions, model: string): Promise<void> {
  const dataDir = dataDirOf(options);
  try {
    const { models } = workersConfiguration(dataDir, configOf(options));
    await createProviders({}, models)(model).check?.();
  } catch (err) {
    // A running worker, here or elsewhere, has its own environment and the configuration it started with.
    const hasWorker =
      runningWorker(dataDir) !== undefined || resolveServer(options, process.env).isConfigured;
    const isWorkers = err instanceof HoldfastError && ['model_auth', 'config_invalid'].includes(err.code);
    if (!isWorkers || !hasWorker) throw err;
  }
}

/** The worker has a different working folder: a scripted model's file must be an absolute path. */
export function modelInFull(model: string): string {
  const file = /^scripted:(.+)$/s.exec(model)?.[1];
  return file ? `scripted:${resolve(file)}` : model;
}

/** @param otherwise what else the command takes in place of a model */
export const noModel = (otherwise = ''): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: '--model',
    got: 'nothing',
    allowed: 'PROVIDER:NAME',
    next:
      'Name a model: `--model anthropic:NAME` (needs ANTHROPIC_API_KEY), `--model openai:NAME` (OPENAI_API_KEY), a server of ' +
      'your own ([model_providers] in holdfast.toml), or `--model scripted:FILE` to try it without one' +
      `${otherwise}. More: docs/models.md.`,
  });
