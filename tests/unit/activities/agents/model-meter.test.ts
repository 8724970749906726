// Metrics of model calls: how many names they distinguish.
import { noopMetricMeter, type MetricCounter, type MetricMeter } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { ModelMeter } from '../../../../activities/agents/model-meter';

/** Keeps the labels of what is counted. */
function recordingMeter(): { meter: MetricMeter; models: () => string[] } {
  const counted: string[] = [];
  const createCounter: MetricMeter['createCounter'] = (name, unit, description) => {
    const add: MetricCounter['add'] = (_by, labels) => {
      if (name === 'holdfast_model_calls') counted.push(String(labels?.model));
    };
    return Object.assign(noopMetricMeter.createCounter(name, unit, description), { add });
  };
  const meter = Object.assign(Object.create(noopMetricMeter) as MetricMeter, { createCounter });
  return { meter, models: () => counted };
}

test('fifty models are counted by their names, all further ones as `other`, and those first fifty stay known', async () => {
  const { meter, models } = recordingMeter();
  const activity = new MockActivityEnvironment({}, { metricMeter: meter });
  const measured = new ModelMeter();
  const names = Array.from({ length: 52 }, (_one, n) => `openai:model-${n}`);
  for (const name of [...names, names[0] ?? ''])
    await activity.run(() => measured.measure(name, new AbortController().signal, async () => ({})));
  expect(models()).toEqual([...names.slice(0, 50), 'other', 'other', names[0]]);
});
