// The workflows of the conformance suite. Each kind does one thing that ours rely on.
import {
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  executeChild,
  getExternalWorkflowHandle,
  isCancellation,
  patched,
  proxyActivities,
  setHandler,
  sleep,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';

interface Activities {
  echo(value: string): Promise<string>;
  refuse(value: string): Promise<string>;
}

const { echo, refuse } = proxyActivities<Activities>({
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 1 },
});

const nameOf = (err: unknown): string => {
  const { cause } = err as Error;
  return `${(err as Error).constructor.name} of ${cause instanceof ApplicationFailure ? cause.type : 'nothing'}`;
};

/** What each kind does, besides answering messages. */
const KINDS: Record<string, (isReleased: () => boolean) => Promise<string>> = {
  waits: async (isReleased) => {
    await condition(isReleased);
    return 'released';
  },
  timer: async () => {
    await sleep(20);
    return 'over';
  },
  expires: async () => String(await condition(() => false, 20)),
  'takes back a timer': async (isReleased) => String(await condition(isReleased, '1 day')),
  activity: () => echo('a value'),
  'activity that fails': () => refuse('a value').catch(nameOf),
  throws: () => Promise.reject(ApplicationFailure.nonRetryable('on purpose', 'OnPurpose')),
  child: () => executeChild(scenario, { args: ['timer'], workflowId: `${workflowInfo().workflowId}/child` }),
  'child that fails': () =>
    executeChild(scenario, { args: ['throws'], workflowId: `${workflowInfo().workflowId}/child` }).catch(
      nameOf,
    ),
  'child that exists': async () => {
    const options = { args: ['waits'] as [string], workflowId: `${workflowInfo().workflowId}/child` };
    await startChild(scenario, options);
    return startChild(scenario, options).then(() => 'started', nameOf);
  },
  'child that is cancelled': async () => {
    const workflowId = `${workflowInfo().workflowId}/child`;
    const scope = new CancellationScope();
    const child = await scope.run(() => startChild(scenario, { args: ['waits'], workflowId }));
    scope.cancel();
    return child.result().catch((err: unknown) => `cancelled: ${isCancellation(err)}`);
  },
  'signals nobody': () =>
    getExternalWorkflowHandle('nobody')
      .signal('release')
      .then(
        () => 'signalled',
        () => 'there is nobody',
      ),
  'signals its child': async () => {
    const workflowId = `${workflowInfo().workflowId}/child`;
    const child = await startChild(scenario, { args: ['waits'], workflowId });
    await child.signal('release');
    return child.result();
  },
  'continues as new': () => continueAsNew<typeof scenario>('timer'),
  'continues as new once released': async (isReleased) => {
    await condition(isReleased);
    return continueAsNew<typeof scenario>('waits');
  },
  'is patched': () => Promise.resolve(`patched: ${patched('a patch')}`),
  'cleans up': async (isReleased) => {
    try {
      await condition(isReleased);
    } catch {
      await CancellationScope.nonCancellable(() => echo('cleaned up'));
    }
    return 'clean';
  },
};

export async function scenario(kind: string): Promise<string> {
  let isReleased = false;
  let noted = 0;
  setHandler(defineSignal('release'), () => void (isReleased = true));
  setHandler(defineSignal('note'), () => void (noted += 1));
  setHandler(defineQuery('noted'), () => noted);
  setHandler(
    defineUpdate<string, [string]>('ask'),
    async (how) => {
      if (how === 'waits') await condition(() => isReleased);
      if (how === 'fails') throw ApplicationFailure.nonRetryable('on purpose', 'OnPurpose');
      return `answer ${how}`;
    },
    {
      validator: (how) => {
        if (how === 'refused') throw ApplicationFailure.nonRetryable('refused', 'Refused');
      },
    },
  );
  const work = KINDS[kind];
  if (!work) throw ApplicationFailure.nonRetryable(`there is no kind ${kind}`);
  return work(() => isReleased);
}
