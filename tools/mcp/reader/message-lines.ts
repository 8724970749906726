// The texts of messages in a program's output: a line each. Some programs spread one over several lines, for people.
import { MIB } from '../../../contracts/sessions/quotas';
import { MAX_MESSAGE_MIB } from '../http-exchange';

const NEWLINE = 10;

export class MessageLines {
  /** Output since the last newline. */
  private rest: Buffer[] = [];
  private restBytes = 0;
  /** Lines of a message that began with a brace alone. */
  private begun: string[] | undefined;
  private begunChars = 0;

  /** The texts that are complete now. Throws for a line without an end. */
  push(chunk: Buffer): string[] {
    this.rest.push(chunk);
    this.restBytes += chunk.length;
    if (!chunk.includes(NEWLINE)) {
      if (this.restBytes <= MAX_MESSAGE_MIB * MIB) return [];
      throw new Error(`it wrote a line of more than ${MAX_MESSAGE_MIB} MiB`);
    }
    const output = Buffer.concat(this.rest);
    const end = output.lastIndexOf(NEWLINE);
    this.rest = [output.subarray(end + 1)];
    this.restBytes = output.length - end - 1;
    const lines = output.toString('utf8', 0, end).split('\n');
    return lines.flatMap((line) => this.complete(line.trimEnd()) ?? []);
  }

  private complete(line: string): string | undefined {
    if (!this.begun) {
      if (line !== '{' && line !== '[') return line === '' ? undefined : line;
      this.begun = [line];
      this.begunChars = 0;
      return undefined;
    }
    // The lines within a message are indented: this is another one, and what began before is none.
    if (/^[{[]./.test(line)) {
      this.begun = undefined;
      return line;
    }
    this.begun.push(line);
    this.begunChars += line.length;
    if (!/^[}\]]/.test(line) && this.begunChars <= MAX_MESSAGE_MIB * MIB) return undefined;
    const text = this.begun.join('\n');
    this.begun = undefined;
    return text;
  }
}
