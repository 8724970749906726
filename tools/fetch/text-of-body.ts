// The text of a body: which encoding it has, and whether it is text at all.
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/** Where a page names its encoding; the standard of HTML asks for the first 1,024 bytes. */
const LOOKED_AT_BYTES = 4_096;
const TEXT = /^(text\/|application\/(.*[+])?(json|xml|javascript|ecmascript|yaml|x-yaml|toml)$)/i;
const MARKUP = /^(text\/html|(application|text|image)\/(.*[+])?xml|text\/css|)$/i;

/**
 * Decoded by its byte order mark, otherwise by the charset of its header, otherwise by what it says itself, otherwise as
 * UTF-8. Null if it is not text.
 */
export function textOf(body: Buffer, type: string, charset: string | undefined): string | null {
  const marked = markOf(body);
  const named = [marked, charset, MARKUP.test(type) ? namedIn(body) : undefined];
  const decoder = named.map(decoderOf).find((one) => one !== undefined);
  const isWide = decoder?.encoding.startsWith('utf-16');
  if (!isWide && body.includes(0)) return null;
  // Other content must be UTF-8 to count as text; text is decoded as well as possible.
  if (!decoder && !charset && !TEXT.test(type) && !isWhole(body)) return null;
  return (decoder ?? new TextDecoder()).decode(body, { stream: true });
}

function markOf(body: Buffer): string | undefined {
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  if (body[0] === 0xfe && body[1] === 0xff) return 'utf-16be';
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 'utf-8' : undefined;
}

/** `<meta charset>`, `<meta http-equiv>`, the declarations of XML and CSS. What can be read so far is not UTF-16. */
function namedIn(body: Buffer): string | undefined {
  const start = body.toString('latin1', 0, LOOKED_AT_BYTES).replace(/<!--[^]*?(?:-->|$)/g, '');
  const name =
    /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)/i.exec(start)?.[1] ??
    /^@charset "([\w.:-]+)"/.exec(start)?.[1] ??
    /<meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start)?.[1];
  return name && /^utf-?16/i.test(name) ? 'utf-8' : name;
}

/** Whether it is UTF-8; the last character may be cut off. */
const isWhole = (body: Buffer): boolean =>
  [0, 1, 2, 3].some((cut) => isUtf8(body.subarray(0, body.length - cut)));

function decoderOf(charset: string | undefined): TextDecoder | undefined {
  try {
    return charset === undefined ? undefined : new TextDecoder(charset);
  } catch {
    // A charset that Node does not know.
    return undefined;
  }
}
