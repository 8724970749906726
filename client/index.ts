// What the package exports to backends.
export { HoldfastClient } from './holdfast-client';
export { AgentHandle } from './agents/agent-handle';
export type { FollowedMessage, FollowOptions, FollowPlace } from './agents/follow-agent';
export { AgentDirectory, type AgentEntry, type ListAgentsRequest } from './agents/agent-directory';
export { AgentWorkspace, type DiffOptions, type RewindOptions } from './agents/agent-workspace';
export { SessionHandle } from './session-handle';
export { HoldfastError, type ErrorCode } from '../contracts/errors/holdfast-error';
export type * from '../contracts/agents/agent';
export type * from '../contracts/models/model-call';
export type * from '../contracts/sessions/session';
export type { Wait, WaitsFor } from '../contracts/agents/waits';
export type { Comparison } from '../contracts/workspaces/requests-to-hosts';
export type * from '../contracts/workspaces/checkpoints';
export type { ConversationStep } from '../contracts/workspaces/conversation-steps';
export type { RewindRequest, RewindResult } from '../contracts/workspaces/rewinds';
export type { SessionRef } from '../contracts/ids';
export { followTokens, type FollowTokensOptions } from './agents/live-tokens';
export type { LiveToken } from '../contracts/models/live-tokens';
