// What the package exports to backends.
export { HoldfastClient } from './holdfast-client';
export { AgentHandle, type FollowOptions, type FollowedMessage } from './agent-handle';
export { AgentDirectory, type AgentEntry, type ListAgentsRequest } from './agent-directory';
export { SessionHandle } from './session-handle';
export { HoldfastError, type ErrorCode } from '../contracts/errors';
export type * from '../contracts/agent';
export type * from '../contracts/session';
export type { Wait, WaitsFor } from '../contracts/waits';
export type { SessionRef } from '../contracts/ids';
export { followTokens, type FollowTokensOptions } from './live-tokens';
export type { LiveToken } from '../contracts/live-tokens';
