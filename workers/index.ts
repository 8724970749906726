// The package's export `holdfast/workers`: runs Holdfast's workers in your own process.
export { createWorkers } from './create-workers';
export type { WorkersOptions } from './workers-options';
export type { Workers, WorkersLog, WorkersReady } from './workers';
export type { ModelProviders } from '../models/providers';
export type { ModelProvider, ModelRequest } from '../models/provider';
