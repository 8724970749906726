// A real Prometheus for a test, on a free port, with the configuration and rules that we ship; and what it scrapes.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { packageRoot } from '../../../system/package-root';
import { until } from '../until';
import { freePort } from '../free-port';
import { missingOf, pathOf } from '../run/programs';

export const SHIPPED = join(packageRoot(), 'deploy', 'prometheus');

/** Why this machine cannot have one; undefined if it can. */
export const noPrometheus = (): string | undefined => missingOf('prometheus', 'promtool');

export interface Sample {
  labels: Record<string, string>;
  value: number;
}

/** The samples of a page in Prometheus' text format, by name. */
export function samplesIn(page: string): Map<string, Sample[]> {
  const samples = new Map<string, Sample[]>();
  for (const line of page.split('\n')) {
    const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (value === undefined) continue;
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [
      key,
      text,
    ]);
    const sample = { labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
    samples.set(name, [...(samples.get(name) ?? []), sample]);
  }
  return samples;
}

interface Configured {
  global: Record<string, string>;
  scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
}

export class Prometheus {
  private readonly folder = mkdtempSync(join(tmpdir(), 'holdfast-prometheus-'));
  private child: ChildProcess | undefined;
  private url = '';

  /** With the shipped configuration, of which only the addresses and the pause between scrapes are others. */
  async start(targets: Readonly<Record<string, string>>): Promise<void> {
    cpSync(SHIPPED, this.folder, { recursive: true });
    const file = join(this.folder, 'prometheus.yml');
    const configured = parse(readFileSync(file, 'utf8')) as Configured;
    configured.global = { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '1s' };
    for (const { job_name: job, static_configs: configs } of configured.scrape_configs)
      for (const one of configs) one.targets = [targets[job] ?? ''];
    writeFileSync(file, stringify(configured));
    const listen = `127.0.0.1:${await freePort()}`;
    this.url = `http://${listen}`;
    const args = [`--config.file=${file}`, `--storage.tsdb.path=${join(this.folder, 'data')}`];
    this.child = spawn(pathOf('prometheus'), [...args, `--web.listen-address=${listen}`], {
      stdio: 'ignore',
    });
    await until(() =>
      fetch(`${this.url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  }

  /** Throws what Prometheus says of an expression that is wrong. */
  async query(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]> {
    const answer = await fetch(`${this.url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const body = (await answer.json()) as { data?: { result: never[] }; error?: string };
    if (!body.data) throw new Error(`${expression}: ${body.error}`);
    return body.data.result;
  }

  async rules(): Promise<{ name: string; health: string; query: string }[]> {
    const answer = await fetch(`${this.url}/api/v1/rules`);
    const body = (await answer.json()) as {
      data: { groups: { rules: { name: string; health: string; query: string }[] }[] };
    };
    return body.data.groups.flatMap(({ rules }) => rules);
  }

  async end(): Promise<void> {
    if (this.child && this.child.exitCode === null) {
      this.child.kill();
      await once(this.child, 'exit');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
