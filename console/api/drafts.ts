// What a person has begun to write: it outlives the part of the page that it stands in, such as when a log-in ends.
import { signal, type Signal } from '@preact/signals';

const drafts = new Map<string, Signal<string>>();

/** @param of what it is about: another one has another draft */
export function draftOf(...of: string[]): Signal<string> {
  const key = JSON.stringify(of);
  const draft = drafts.get(key) ?? signal('');
  drafts.set(key, draft);
  return draft;
}
