// The workflows that a worker offers. Exports workflows, nothing else.
export { agent } from './agent';
export { execSession } from './exec-session';
export { turn } from './turn';
