// What the package exports as `holdfast/tools`: how one's own tool is defined.
export { defineTool, type Tool, type ToolContext } from './tool';
export { HoldfastError, type ErrorCode, type ErrorFacts } from '../contracts/errors';
