// Searches files in a separate thread, which can be ended if an expression runs forever. Loaded by path, also in a sandbox
// where nothing else of the package is: so it has no imports.
{
  const threads = process.getBuiltinModule('node:worker_threads');
  const { closeSync, constants, fstatSync, openSync, readFileSync } = process.getBuiltinModule('node:fs');

  /** Nobody writes longer text files by hand. */
  const MAX_FILE_BYTES = 64 * 1024 * 1024;

  const request = threads.workerData as { source: string; flags: string; files: string[]; limit: number };

  const readText = (file: string): string => {
    let fd: number | undefined;
    try {
      // A pipe may have taken its place in the meantime: it would be waited for without end.
      fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
      const stats = fstatSync(fd);
      if (!stats.isFile() || stats.size > MAX_FILE_BYTES) return '';
      const data = readFileSync(fd);
      return data.includes(0) ? '' : data.toString('utf8');
    } catch {
      // Gone in the meantime, or unreadable.
      return '';
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
    const lines = readText(file).split('\n');
    if (lines.at(-1) === '') lines.pop();
    const matches: { file: string; line: number; text: string }[] = [];
    for (const [at, text] of lines.entries())
      if (matches.length < left && pattern.test(text)) matches.push({ file, line: at + 1, text });
    left -= matches.length;
    if (matches.length > 0) threads.parentPort?.postMessage({ matches });
  }
}
