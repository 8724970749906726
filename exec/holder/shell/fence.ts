// Cuts the driver's fences out of a terminal's output. A fence means that all output of the command lies before this
// point. It does not prove an end (a program could print it); it only orders.

export class FenceFilter {
  private held: Buffer = Buffer.alloc(0);

  constructor(private readonly fence: Buffer) {}

  /** Returns the chunk without fences and how many it held; may hold back the beginning of a fence. */
  push(chunk: Buffer): { data: Buffer; fences: number } {
    let rest = this.held.length > 0 ? Buffer.concat([this.held, chunk]) : chunk;
    const parts: Buffer[] = [];
    let fences = 0;
    for (let at = rest.indexOf(this.fence); at >= 0; at = rest.indexOf(this.fence)) {
      parts.push(rest.subarray(0, at));
      rest = rest.subarray(at + this.fence.length);
      fences += 1;
    }
    const kept = this.partialFenceAtEnd(rest);
    parts.push(rest.subarray(0, rest.length - kept));
    this.held = rest.subarray(rest.length - kept);
    return { data: parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts), fences };
  }

  /** What was held back, once no more output can arrive. */
  flush(): Buffer {
    const data = this.held;
    this.held = Buffer.alloc(0);
    return data;
  }

  private partialFenceAtEnd(data: Buffer): number {
    for (let n = Math.min(this.fence.length - 1, data.length); n > 0; n--) {
      if (data.subarray(data.length - n).equals(this.fence.subarray(0, n))) return n;
    }
    return 0;
  }
}
