// The workflows that a worker offers. Exports nothing else.
export { agent } from './agent';
export { claim } from './claim';
export { carryBlob } from './carry-blob';
export { execSession } from './exec-session';
export { host } from './host';
export { turn } from './turn';
