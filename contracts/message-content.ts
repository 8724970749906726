// What the id of a message stands for: the same id again with the same content gets the recorded answer, with other
// content it is refused as `id_conflict`. How an answer is waited for or shown is no content. Pure.
import type { RecoverRequest, SendRequest } from './agent';
import type { ExecRequest, InputRequest, ResetRequest } from './session';
import { sha256 } from './sha256';
import type { SpawnRequest } from './sub-agents';
import type { ToolCallRequest } from './tools';

/** Plain JSON; it begins with the name of the message. */
export type MessageContent = readonly [name: string, ...fields: unknown[]];

/** Not `yield` and `reader`, which are about the answer, nor `tools`: the first grant of a command stands. */
export const execContent = ({
  runtime = 'terminal',
  code,
  reset = false,
}: Pick<ExecRequest, 'runtime' | 'code' | 'reset'>): MessageContent => ['exec', runtime, code, reset];

/** Not `yield` and `reader`. */
export const inputContent = ({ keyboard, enter = true, keys = [] }: InputRequest): MessageContent => [
  'input',
  keyboard ?? (keys.length > 0 ? null : ''),
  enter,
  keys,
];

export const resetContent = ({ reason }: ResetRequest): MessageContent => ['reset', reason ?? null];

export const sendContent = ({ message, mode = 'queue' }: SendRequest): MessageContent => [
  'send',
  message,
  mode,
];

export const recoverContent = ({ reason }: RecoverRequest): MessageContent => ['recover', reason ?? null];

/** Not what the file of a role adds, which may change between two attempts of one call. */
export const spawnContent = ({ role, prompt }: SpawnRequest): MessageContent => ['spawn', role, prompt];

/** Arguments by their hash, which is the name of the file where they are too large for a message. */
export const callContent = ({
  commandId,
  tool,
  args,
  blob,
}: Pick<ToolCallRequest, 'commandId' | 'tool' | 'args' | 'blob'>): MessageContent => [
  'toolCall',
  commandId,
  tool,
  blob?.sha256 ?? sha256(JSON.stringify(args)),
];

/** As much of a hash as is kept: only a caller that looks for it finds two contents of one. */
const HASH_CHARS = 16;

export const contentHash = (id: string, content: MessageContent): string =>
  sha256(JSON.stringify([id, ...content])).slice(0, HASH_CHARS);
