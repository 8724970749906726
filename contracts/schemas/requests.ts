// The schemas that tables of messages name.
export * from './agent';
export * from './agent-signals';
export * from './approvals';
export { modelUseSchema } from './quota-shapes';
export { hostFactsSchema } from './remote-hosts';
export * from './session';
export * from './tools';
export { webhookTestSchema } from './webhook-settings';
