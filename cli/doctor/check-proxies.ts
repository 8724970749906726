// `holdfast doctor` on proxies: which one do models, MCP servers, fetch and webhooks go through?
import { readFileSync } from 'node:fs';
import { describedProxies } from '../../system/http/proxies';
import { runningWorker } from '../../workers/process/worker-record';

interface Found {
  status: 'ok' | 'warn';
  found: string;
  next?: string;
}

/** Undefined if there are none. */
export function checkProxies(dataDir: string, own = process.env): Found | undefined {
  const worker = runningWorker(dataDir);
  const env = worker ? environmentOf(worker.identity.pid) : undefined;
  const [here, there] = [describedProxies(own), env && describedProxies(env)];
  const used = env ? there : here;
  if (env && there?.text !== here?.text) {
    const found = `the worker uses ${there?.text ?? 'none'}; this command's environment has ${here?.text ?? 'none'}`;
    return { status: 'warn', found, next: 'restart the worker in the environment that it is to have' };
  }
  if (!used) return undefined;
  if (used.faults.length === 0) return { status: 'ok', found: used.text };
  const next = `set ${used.faults.join(' and ')} to an address such as http://proxy.example.com:3128, and restart the worker`;
  return { status: 'warn', found: used.text, next };
}

/** Of a process of the same user, as it was when that was started. Undefined where the system does not provide it. */
function environmentOf(pid: number): Record<string, string> | undefined {
  try {
    const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return Object.fromEntries(
      pairs.flatMap((pair) => {
        const at = pair.indexOf('=');
        return at > 0 ? [[pair.slice(0, at), pair.slice(at + 1)]] : [];
      }),
    );
  } catch {
    return undefined;
  }
}
