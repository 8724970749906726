// The content that a message's id stands for: repeating the id with the same content returns the recorded answer, with
// other content it is refused as `id_conflict`. How an answer is awaited or shown is not content. Pure.
import type { RecoverRequest, SendRequest } from './schemas/agent';
import type { ExecRequest, InputRequest, ResetRequest } from './schemas/session';
import { sha256 } from './sha256';
import type { SpawnRequest } from './schemas/agent';
import type { ToolCallRequest } from './tools/tools';
import type { RewindRequest } from './schemas/agent';

/** Plain JSON that begins with the message's name. */
export type MessageContent = readonly [name: string, ...fields: unknown[]];

/** Without `yield` and `reader`, which concern the answer, and `tools`: a command's first grant applies. */
export const execContent = ({
  runtime = 'terminal',
  code,
  reset = false,
}: Pick<ExecRequest, 'runtime' | 'code' | 'reset'>): MessageContent => ['exec', runtime, code, reset];

/** Without `yield` and `reader`. */
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

/** Without `dryRun`: a look has an id of its own. */
export const rewindContent = ({
  to,
  what = 'both',
  force = false,
  stop = false,
}: RewindRequest): MessageContent => ['rewind', to, what, force, stop];

/** Without what a role's file adds, which may change between two attempts of one call. */
export const spawnContent = ({ role, prompt }: SpawnRequest): MessageContent => ['spawn', role, prompt];

/** Arguments by hash, which is also the file's name if they are too large for a message. */
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

/** How much of a hash is kept: only a caller that searches for a collision finds one. */
const HASH_CHARS = 16;

export const contentHash = (id: string, content: MessageContent): string =>
  sha256(JSON.stringify([id, ...content])).slice(0, HASH_CHARS);
