// Real and simulated terminals conform to the port. Where the simulated ones differ, it is named here.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulatedHost } from '../../testing';
import { SimulatedTerminals } from '../../testing/simulated-host';
import { testHost } from '../helpers/terminals/session-host';
import { ANSWERS, conformsToTerminals } from './terminals';

conformsToTerminals('real terminals', () => {
  const t = testHost();
  return { terminals: t.host, end: () => t.end() };
});

conformsToTerminals(
  'simulated terminals',
  () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-simulated-'));
    const terminals = new SimulatedTerminals(dataDir, simulatedHost(ANSWERS), () => undefined);
    return { terminals, end: () => rmSync(dataDir, { recursive: true }) };
  },
  { ownsNoProcess: true, yieldsAtOnce: true },
);
