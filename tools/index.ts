// What the package exports as `holdfast/tools`: how to define your own tool.
export { defineTool, hostOf, type Tool, type ToolContext, type ToolHost } from './tool';
export type { ArgumentRoles, CodeLanguage } from '../contracts/tools/call-facts';
export type { JsonValue } from '../contracts/tools/tools';
export { HoldfastError, type ErrorCode, type ErrorFacts } from '../contracts/errors/holdfast-error';
