// `[telemetry]` of `holdfast.toml`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { readConfiguration, type Configuration } from '../../../workers/configuration/configuration';
import { collectorHeaders } from '../../../workers/configuration/configured-telemetry';
import { metricsExporter } from '../../../workers/telemetry/install-runtime';
import { docBlocks } from '../../helpers/docs/doc-blocks';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function read(toml: string): Configuration['telemetry'] {
  const file = join(folder, 'holdfast.toml');
  writeFileSync(file, toml);
  return readConfiguration({ file, isNamed: true, env: {}, programEnv: {} }).telemetry;
}

test('by default nothing is exported', () => {
  const settings = read('');
  expect(settings).toMatchObject({ prometheus: null, prometheusGateway: null, otlp: null, traces: false });
  expect(metricsExporter(settings, settings.prometheus, {})).toBeUndefined();
});

test('the example of docs/metrics.md is taken as it stands', () => {
  const [example] = docBlocks('metrics.md');
  expect(read(example?.code ?? '')).toMatchObject({
    prometheus: '127.0.0.1:9464',
    prometheusGateway: '127.0.0.1:9465',
    otlp: 'http://127.0.0.1:4318',
    traces: true,
    content: false,
    lookMs: 30_000,
  });
});

test('an address for Prometheus comes before a collector, to which headers go from the environment', () => {
  const settings = read(
    '[telemetry]\notlp = "http://collector:4318/"\nenv_otlp_headers = { Authorization = "TOKEN", "X-Other" = "ABSENT" }',
  );
  const env = { TOKEN: 'Bearer x' };
  expect(collectorHeaders(settings, env)).toEqual({ Authorization: 'Bearer x' });
  expect(metricsExporter(settings, null, env)).toMatchObject({
    otel: { url: 'http://collector:4318/v1/metrics', http: true, headers: { Authorization: 'Bearer x' } },
  });
  expect(metricsExporter(settings, '127.0.0.1:1', env)).toMatchObject({
    prometheus: { bindAddress: '127.0.0.1:1' },
  });
});

test.each([
  ['prometheus = "localhost:9464"', '"telemetry.prometheus" must be ADDRESS:PORT with an IP address'],
  ['otlp = "collector:4317"', '"telemetry.otlp" must be an http or https URL'],
  ['promtheus = "127.0.0.1:1"', 'did you mean "prometheus"?'],
  ['look_every_sec = 0', '"telemetry.look_every_sec" must be above 0'],
])('%s is refused with what is allowed', (line, fault) => {
  const faults = (): unknown => {
    try {
      return read(`[telemetry]\n${line}`);
    } catch (err) {
      return err instanceof HoldfastError ? err.facts.faults : err;
    }
  };
  expect(faults()).toContain(fault);
});
