// What programs get of a command that is called with `--json`: one value a line.
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
