// The package's export `holdfast/workers`: runs Holdfast's workers in your own process.
export { createWorkers, type WorkersOptions } from './create-workers';
export type { Workers, WorkersLog, WorkersReady } from './workers';
export type { ModelProviders } from '../models/providers';
export type { ModelProvider, ModelRequest } from '../models/provider';
