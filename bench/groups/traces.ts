// What a trace costs: steps of turns that are traced, and of turns that are not, by the same worker.
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { HoldfastClient } from '../../client/holdfast-client';
import { inTrace, newTrace } from '../../client/delivery/traced-client';
import { stopWorker } from '../../workers/process/worker-process';
import { atMost, inTurn, timed, type Row } from '../measure';
import { uniqueId, type Bench } from '../setting';
import { scriptedModel } from './steps';

const STEPS = 20;

export async function traces(bench: Bench): Promise<Row[]> {
  let spans = 0;
  const collector = createServer((request, response) => {
    spans += 1;
    request.resume().on('end', () => response.writeHead(200).end('{}'));
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const settings = join(bench.dataDir, 'holdfast.toml');
  writeFileSync(settings, `[telemetry]\notlp = "http://127.0.0.1:${port}"\n`);
  await stopWorker(bench.dataDir);
  await bench.worker();
  try {
    const row = await tracedStep(bench);
    if (spans === 0) throw new Error('nothing was traced');
    return [row];
  } finally {
    rmSync(settings);
    await stopWorker(bench.dataDir);
    collector.closeAllConnections();
    collector.close();
    await bench.worker();
  }
}

async function tracedStep(bench: Bench): Promise<Row> {
  const model = scriptedModel(bench, STEPS);
  const client = await HoldfastClient.connect({ address: bench.client.address }, {});
  const untraced = async (): Promise<number> => {
    const id = uniqueId('turn');
    const total = await timed(async () => {
      await client.agent(id).start({ task: 'x', model, keep: true });
      await client.agent(id).result();
    });
    await client.session({ agent: id, session: 0 }).close('measured');
    return total / STEPS;
  };
  const traced = (): Promise<number> => inTrace(newTrace(), untraced);
  await inTurn(1, traced, untraced);
  const result = await inTurn(7, traced, untraced);
  await client.close();
  return atMost('turn step, traced / not traced', result, 1.25);
}
