// What the package exports as `holdfast/workers`: Holdfast's workers in one's own process.
export { createWorkers, type WorkersOptions } from './create-workers';
export type { Workers, WorkersLog, WorkersReady } from './workers';
export type { ModelProviders } from '../models/providers';
export type { ModelProvider, ModelRequest } from '../models/provider';
