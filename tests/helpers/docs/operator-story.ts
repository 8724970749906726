// The blocks of docs/operators.md by their headings, to be run unchanged.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Section {
  title: string;
  /** JSON to paste into the web UI. */
  json: unknown[];
  cli: string | undefined;
  http: string | undefined;
}

const FILE = join(__dirname, '..', '..', '..', 'docs', 'operators.md');

export function readSections(): { setup: string; sections: Section[] } {
  const parts = readFileSync(FILE, 'utf8').split(/^#{2,3} /m);
  const all = parts.slice(1).map((part) => {
    const blocks = [...part.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, kind, body = '']) => ({
      kind,
      body,
    }));
    const scripts = blocks.filter(({ kind }) => kind === 'sh').map(({ body }) => body);
    return {
      title: part.split('\n')[0] ?? '',
      json: blocks.filter(({ kind }) => kind === 'json').map(({ body }) => JSON.parse(body) as unknown),
      cli: scripts.find((script) => script.startsWith('temporal ')),
      http: scripts.find((script) => !script.startsWith('temporal ')),
    };
  });
  const setup = all.find(({ title }) => title === 'Over HTTP')?.http;
  if (!setup) throw new Error('the document has no functions for HTTP');
  return { setup, sections: all.filter(({ title, cli, http }) => title !== 'Over HTTP' && (cli ?? http)) };
}

/** Standard output of a script of the document; throws with its standard error if one of its commands fails. */
export function runScript(script: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('bash', ['-euo', 'pipefail', '-c', script], { env, timeout: 50_000 }, (err, stdout, stderr) => {
      if (err) reject(new Error(`${script}\n${stdout}\n${stderr}`));
      else resolve(stdout);
    });
  });
}
