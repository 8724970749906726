// Not every server takes every part of a request. What one refuses is left out of the next attempt, and, where its words
// name it, of all later requests to the same model. A refused request costs nothing: the model has not begun.
import { refusesRequest } from './classify-error';
import type { WireCall } from './wire-protocol';
import { fieldsOf } from './replies/untrusted';
import { callsInWords, hasCalls, withoutExtras } from './conversation/calls-in-words';

export interface Concession {
  /** As it is remembered. */
  key: string;
  /** How a server names the part that it refuses. */
  named: RegExp;
  /** It is also left out if the server does not say what it refuses: some say only that they do. */
  unnamed?: true;
}

/** Whether a concession has been made. */
export type Made = (key: string) => boolean;

const EXTRAS = 'extras';
const CALLS = 'calls';
/** Schemas are part of keys, and may be large. */
const MAX_REMEMBERED = 200;

/**
 * Asks, and again without what the server refuses. At last it gets earlier calls in words: a conversation may hold
 * what this server never takes, such as calls of another model, and would otherwise fail for good.
 * @param own those of the protocol, the most likely first
 */
export async function withConcessions<T>(
  call: WireCall,
  own: readonly Concession[],
  ask: (call: WireCall, made: Made) => Promise<T>,
): Promise<T> {
  const all = [...own, ...ofConversation(call)];
  const remembered = ({ key }: Concession): string => `${call.name} ${key}`;
  const made = new Set(all.filter((each) => call.refused.has(remembered(each))));
  const named: Concession[] = [];
  for (;;) {
    const isMade: Made = (key) => [...made].some((each) => each.key === key);
    try {
      const answer = await ask(conceded(call, isMade), isMade);
      for (const each of named) if (call.refused.size < MAX_REMEMBERED) call.refused.add(remembered(each));
      return answer;
    } catch (err) {
      if (!refusesRequest(err) || refusesImages(err, call)) throw err;
      const open = all.filter((each) => !made.has(each));
      const meant = open.filter((each) => each.named.test(err.message));
      const next = meant.length > 0 ? meant : open.filter(({ unnamed }) => unnamed).slice(0, 1);
      if (next.length === 0) throw err;
      named.push(...meant.filter(({ key }) => key !== CALLS));
      for (const each of next) made.add(each);
    }
  }
}

/** The caller asks again without them. */
const refusesImages = (err: Error, { images }: WireCall): boolean =>
  images !== undefined && images.size > 0 && /image|vision|multi-?modal/i.test(err.message);

function ofConversation({ messages }: WireCall): Concession[] {
  const extras = messages.flatMap((message) => (message.role === 'assistant' ? [message.extras] : []));
  const names = new Set(extras.flatMap((each) => Object.keys(fieldsOf(fieldsOf(each).message))));
  const isAny = extras.some((each) => each !== undefined);
  return [
    ...(isAny
      ? [{ key: EXTRAS, named: namesOf([...names, 'thinking', 'reasoning']), unnamed: true as const }]
      : []),
    ...(hasCalls(messages) ? [{ key: CALLS, named: /$^/, unnamed: true as const }] : []),
  ];
}

/** That a field may not be there; a server that misses one says other things. */
const namesOf = (fields: readonly string[]): RegExp => {
  const names = fields.map((name) => name.replace(/[^\w]/g, '.')).join('|');
  return new RegExp(
    `(?:${names}).*(?:unsupported|not (?:supported|permitted|allowed)|unknown|unexpected|extra)`,
    'i',
  );
};

function conceded(call: WireCall, made: Made): WireCall {
  if (made(CALLS)) return { ...call, messages: callsInWords(call.messages) };
  return made(EXTRAS) ? { ...call, messages: withoutExtras(call.messages) } : call;
}
