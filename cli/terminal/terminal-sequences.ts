// Parses terminal output as a terminal does (ECMA-48 5.3 to 5.6), and returns text plus those complete sequences that a
// policy lets through.
import { StringDecoder } from 'node:string_decoder';

export interface SequencePolicy {
  /** Whether a control character passes; tab, line feed and carriage return always do. */
  passesControl(char: string): boolean;
  /** Replaces an escape or control sequence, whose only control character is its first; '' drops it. */
  rewrite(sequence: string): string;
  /** A string sequence (title, clipboard, device string) that does not end within this many characters is text. */
  maxStringLength: number;
}

/* eslint-disable no-control-regex -- control characters are the point */
const TEXT = /[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+/y;
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;
/** Bell, CAN, SUB, ESC (of ESC \, or of the next sequence), ST. */
const STRING_END = /[\x07\x18\x1a\x1b\x9c]/g;
const CONTROL_SEQUENCE = /^\x1b\[[0-?]*[ -/]*[@-~]$/;
const ESC = '\x1b';
/** CAN and SUB end a sequence and cancel it. */
const ABORTS = '\x18\x1a';
/** OSC, DCS, SOS, PM, APC, and the title of screen and tmux. */
const BEGINS_STRING = ']PX^_k';
/** No drawing sequence is nearly this long. */
const MAX_SEQUENCE_LENGTH = 1_024;

export class TerminalSequences {
  private readonly decoder = new StringDecoder('utf8');
  private state: 'ground' | 'escape' | 'control sequence' | 'string' = 'ground';
  /** The sequence so far, from its ESC on. */
  private held = '';
  private swallowed = 0;

  constructor(private readonly policy: SequencePolicy) {}

  /** The part of a chunk that passes; an unfinished sequence waits for the next chunk. */
  push(chunk: Buffer): string {
    return this.read(this.decoder.write(chunk));
  }

  /** The held-back text that passes, at the end of the output. */
  end(): string {
    const rest = this.read(this.decoder.end());
    this.state = 'ground';
    return rest;
  }

  private read(text: string): string {
    let passed = '';
    for (let at = 0; at < text.length;) {
      if (this.state === 'string') at = this.swallow(text, at);
      else if (this.state === 'ground') {
        TEXT.lastIndex = at;
        const run = TEXT.exec(text)?.[0] ?? '';
        at += run.length;
        passed += run;
        if (at < text.length) passed += this.control(text.charAt(at++));
      } else if (text.charAt(at) > '~' && !CONTROL.test(text.charAt(at))) this.state = 'ground';
      else passed += this.next(text.charAt(at++));
    }
    return passed;
  }

  private control(char: string): string {
    if (char === ESC) return this.begin();
    return this.policy.passesControl(char) ? char : '';
  }

  private begin(): string {
    this.state = 'escape';
    this.held = ESC;
    return '';
  }

  /** One more ASCII or control character of an escape or control sequence. */
  private next(char: string): string {
    if (char === ESC) return this.begin();
    if (ABORTS.includes(char)) this.state = 'ground';
    // A terminal obeys these at once and reads on; they are dropped here, so that they hide nothing.
    else if (CONTROL.test(char)) return '';
    else if (this.held === ESC && BEGINS_STRING.includes(char)) {
      this.state = 'string';
      this.swallowed = 0;
    } else {
      const isFirst = this.held === ESC;
      this.held += char;
      if (isFirst && char === '[') this.state = 'control sequence';
      else if (char >= (this.state === 'escape' ? '0' : '@')) return this.finish();
      else if (this.held.length > MAX_SEQUENCE_LENGTH) this.state = 'ground';
    }
    return '';
  }

  private finish(): string {
    const isWhole = this.state === 'escape' || CONTROL_SEQUENCE.test(this.held);
    this.state = 'ground';
    return isWhole ? this.policy.rewrite(this.held) : '';
  }

  /** Where reading continues. */
  private swallow(text: string, at: number): number {
    STRING_END.lastIndex = at;
    const end = STRING_END.exec(text)?.index ?? text.length;
    const left = this.policy.maxStringLength - this.swallowed;
    if (end - at > left) {
      this.state = 'ground';
      return at + left;
    }
    this.swallowed += end - at;
    if (end === text.length) return end;
    if (text.charAt(end) === ESC) this.begin();
    else this.state = 'ground';
    return end + 1;
  }
}
