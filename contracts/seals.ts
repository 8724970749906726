// What a message carries where plaintext is refused: its purpose, its id, and when it was made. Payload encryption
// proves who wrote it; the seal proves that it is not another message, or an old one sent again. Pure.

/** Travels in one payload with a message's arguments, inside the encrypted part. */
export interface Seal {
  /** The message's name, or `start` and the workflow's type. */
  message: string;
  /** Unique to each message sent: `SENDER/NUMBER`. */
  id: string;
  /** When it was made, in milliseconds by the sender's clock. */
  at: number;
}

/** What a workflow remembers about seals across continue-as-new. Plain JSON. */
export interface SealRecord {
  /** Messages without a seal are refused. */
  only: boolean;
  /** When its first run began. */
  born: number;
  /** The latest seals, oldest first. */
  seen: [id: string, at: number][];
  /** Every seal made before this time counts as seen. */
  floor: number;
  /** The same for seals of one sender: its clock may be ahead of all others. */
  floors?: [sender: string, at: number][];
}

/** How far two clocks may differ. */
export const CLOCK_SKEW_MS = 120_000;
/** A sender must resend a message that this many of its own have overtaken. */
const REMEMBERED = 1_000;
/** Senders with a floor of their own. */
const REMEMBERED_SENDERS = 100;

export const startName = (workflowType: string): string => `start ${workflowType}`;

export const newSealRecord = (born: number): SealRecord => ({ only: false, born, seen: [], floor: 0 });

function isSeal(value: unknown): value is Seal {
  if (typeof value !== 'object' || value === null) return false;
  const { message, id, at } = value as Partial<Record<keyof Seal, unknown>>;
  return typeof message === 'string' && typeof id === 'string' && typeof at === 'number';
}

/** The single argument of a sealed message: parts of several such payloads cannot be recombined. */
export interface Envelope {
  holdfastSeal: Seal | SealRecord;
  args: unknown[];
}

/** Wraps the arguments. */
export const inEnvelope = (args: readonly unknown[], seal: Seal | SealRecord): [Envelope] => [
  // JSON has no undefined.
  { holdfastSeal: seal, args: args.map((arg) => arg ?? null) },
];

/** The arguments, and the seal if there is one. */
export function openEnvelope(given: readonly unknown[]): { args: unknown[]; seal?: unknown } {
  const [first] = given;
  if (typeof first !== 'object' || first === null || !('holdfastSeal' in first)) return { args: [...given] };
  const { holdfastSeal: seal, args } = first as Partial<Envelope>;
  return {
    args: Array.isArray(args) ? args.map((arg) => (arg === null ? undefined : arg) as unknown) : [],
    seal,
  };
}

/** What is wrong with a message; undefined if it may be accepted. `now` is the workflow's time. */
export function sealFault(
  record: SealRecord,
  name: string,
  seal: unknown,
  now: number,
): { got: string; allowed: string } | undefined {
  const got = (what: string): string => `${JSON.stringify(name)} ${what}`;
  if (!isSeal(seal)) {
    if (!record.only) return undefined;
    return { got: got('without a seal'), allowed: 'messages from clients that have the keys' };
  }
  if (seal.message !== name)
    return {
      got: got(`that was sealed as ${JSON.stringify(seal.message)}`),
      allowed: 'what it was sealed as',
    };
  if (record.seen.some(([id]) => id === seal.id))
    return { got: got('that was accepted before'), allowed: 'each message once' };
  const own = record.floors?.find(([sender]) => sender === senderOf(seal.id))?.[1] ?? 0;
  const earliest = Math.max(record.born - CLOCK_SKEW_MS, record.floor, own);
  const latest = now + CLOCK_SKEW_MS;
  if (seal.at > earliest && seal.at <= latest) return undefined;
  return {
    got: got(`that was made at ${new Date(seal.at).toISOString()}`),
    allowed: `${new Date(earliest).toISOString()} to ${new Date(latest).toISOString()}`,
  };
}

/**
 * To be called for messages that `sealFault` accepted.
 * @param latches whether messages without a seal are refused from now on
 */
export function rememberSeal(record: SealRecord, seal: unknown, latches: boolean): void {
  if (!isSeal(seal)) return;
  if (latches) record.only = true;
  record.seen.push([seal.id, seal.at]);
  if (record.seen.length > REMEMBERED) forgetFor(record, senderOf(seal.id));
}

/** The oldest of the same sender, if there is one: a busy one costs the others nothing. */
function forgetFor(record: SealRecord, sender: string): void {
  const oldest = record.seen.findIndex(([id]) => senderOf(id) === sender);
  const isOnlyOne = oldest === record.seen.length - 1;
  for (const [id, at] of record.seen.splice(isOnlyOne ? 0 : oldest, 1)) raiseFloor(record, senderOf(id), at);
}

function raiseFloor(record: SealRecord, sender: string, at: number): void {
  const floors = (record.floors ??= []);
  const known = floors.find(([other]) => other === sender);
  if (known) known[1] = Math.max(known[1], at);
  else floors.push([sender, at]);
  if (floors.length <= REMEMBERED_SENDERS) return;
  // The lowest refuses least of what others send.
  floors.sort(([, a], [, b]) => b - a);
  for (const [, lowest] of floors.splice(REMEMBERED_SENDERS)) record.floor = Math.max(record.floor, lowest);
}

const senderOf = (id: string): string => id.slice(0, Math.max(0, id.lastIndexOf('/')));
