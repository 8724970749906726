// The workflows that a worker offers. Exports nothing else.
export { agent } from './agent/agent';
export { claim } from './host/claim';
export { carryBlob } from './host/carry-blob';
export { execSession } from './session/exec-session';
export { host } from './host/host';
export { offeredTools } from './host/offered-tools';
export { quota } from './agent/quota';
export { turn } from './turn/turn';
export { compareCheckpoints, rewindFiles } from './host/workspace-requests';
export { webhook } from './webhooks/webhook';
