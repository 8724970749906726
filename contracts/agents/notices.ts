// What a workflow has to report that must not be missed: that it began to wait for somebody, lost its shell, or failed.
// A search attribute holds the last ones: unlike the state, they are still there for a reader who comes later. Pure.
import { sha256 } from '../sha256';

export const NOTICE_KINDS = ['input', 'person', 'approval', 'lost', 'failed'] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** The same id is the same wait, or the same loss. */
export interface NoticeId {
  kind: NoticeKind;
  id: string;
}

export interface Notice extends NoticeId {
  /** ISO 8601, in workflow time. */
  at: string;
}

const MAX_ID_CHARS = 120;
/** The server allows 2 KiB for the value of one attribute. */
const MAX_LIST_CHARS = 1_600;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** An id that fits: a long or unusual one, which callers may give, is replaced by its hash. */
export const noticeId = (kind: NoticeKind, id: string): NoticeId => ({
  kind,
  id: id.length <= MAX_ID_CHARS && PRINTABLE.test(id) ? id : `sha256:${sha256(id).slice(0, 32)}`,
});

export const writeNotice = ({ kind, at, id }: Notice): string => `${kind} ${at} ${id}`;

/** Undefined for a text that is none: anyone may set attributes of their own workflows. */
export function readNotice(text: unknown): Notice | undefined {
  const [kind, at = '', id, ...rest] = typeof text === 'string' ? text.split(' ') : [];
  const known = NOTICE_KINDS.find((one) => one === kind);
  if (!known || !id || rest.length > 0 || Number.isNaN(Date.parse(at))) return undefined;
  return { kind: known, at, id };
}

/** The last ones that fit, oldest first. */
export function lastNotices(texts: readonly string[]): string[] {
  let room = MAX_LIST_CHARS;
  const kept = [...texts].reverse().filter((text) => (room -= text.length + 3) >= 0);
  return kept.reverse();
}
