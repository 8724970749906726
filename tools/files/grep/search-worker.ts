// Searches files in a separate thread, which can be ended if an expression runs forever. Loaded by path, also in a sandbox
// where nothing else of the package is: so it has no imports.
{
  const threads = process.getBuiltinModule('node:worker_threads');
  const { closeSync, constants, fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs');

  const NEWLINE = 0x0a;
  /** How much of a file is in memory, unless a line is longer. Lines beyond the maximum are not written by hand. */
  const PART_BYTES = 16 * 1024 * 1024;
  const MAX_LINE_BYTES = 256 * 1024 * 1024;

  const request = threads.workerData as { source: string; flags: string; files: string[]; limit: number };

  /** Calls `each` with the lines of the file. False if it is binary or cannot be read. */
  const readLines = (file: string, each: (line: string) => void): boolean => {
    let fd: number | undefined;
    try {
      // A pipe may have taken its place in the meantime: it would be waited for without end.
      fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
      const stats = fstatSync(fd);
      if (!stats.isFile()) return false;
      // Files of the system say that they are empty.
      let part = Buffer.allocUnsafe(Math.min(Math.max(stats.size + 1, 65_536), PART_BYTES));
      let kept = 0;
      for (let read = 1; read > 0;) {
        read = readSync(fd, part, kept, part.length - kept, null);
        const data = part.subarray(0, kept + read);
        if (data.includes(0, kept)) return false;
        const until = read === 0 ? data.length : data.lastIndexOf(NEWLINE) + 1;
        const lines = data.toString('utf8', 0, until).split('\n');
        if (lines.at(-1) === '') lines.pop();
        for (const line of lines) each(line);
        data.copyWithin(0, until);
        kept = data.length - until;
        if (kept < part.length) continue;
        if (kept >= MAX_LINE_BYTES) return false;
        part = Buffer.concat([part, Buffer.allocUnsafe(kept)]);
      }
      return true;
    } catch {
      // Gone in the meantime, or unreadable.
      return false;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  };

  const pattern = new RegExp(request.source, request.flags);
  let left = request.limit;
  for (const [index, file] of request.files.entries()) {
    if (left <= 0) break;
    // Reported first: if the search never returns, this is the file.
    threads.parentPort?.postMessage({ file: index });
    const matches: { file: string; line: number; text: string }[] = [];
    let at = 0;
    const isText = readLines(file, (text) => {
      at += 1;
      if (matches.length < left && pattern.test(text)) matches.push({ file, line: at, text });
    });
    if (!isText || matches.length === 0) continue;
    left -= matches.length;
    threads.parentPort?.postMessage({ matches });
  }
}
