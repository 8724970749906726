// What both servers are asked to do, and what a server has to offer for that.

/** One workflow on a server, real or simulated. Answers are texts, so that they can be compared. */
export interface Port {
  start(kind: string): Promise<string>;
  signal(name: string): Promise<string>;
  /** Answers with the result, or the type of the failure. */
  update(id: string, how: string): Promise<string>;
  query(): Promise<string>;
  cancel(): Promise<string>;
  terminate(): Promise<string>;
  result(): Promise<string>;
  /** The kinds of events in all runs, without those of workflow tasks, whose number depends on time. */
  events(): Promise<string[]>;
}

type Scenario = readonly [name: string, play: (port: Port) => Promise<unknown>];

const runs = (kind: string): Scenario => [
  kind,
  async (port) => [await port.start(kind), await port.result()],
];

export const SCENARIOS: readonly Scenario[] = [
  ...['timer', 'expires', 'activity', 'activity that fails', 'throws', 'child', 'child that fails'].map(runs),
  ...['child that exists', 'child that is cancelled', 'signals nobody', 'signals its child'].map(runs),
  ...['continues as new', 'is patched'].map(runs),
  [
    'a signal releases it',
    async (port) => [await port.start('waits'), await port.signal('release'), await port.result()],
  ],
  [
    'a timer is taken back',
    async (port) => [
      await port.start('takes back a timer'),
      await port.signal('release'),
      await port.result(),
    ],
  ],
  [
    'an update is answered, and again under its id',
    async (port) => [
      await port.start('waits'),
      await port.update('u1', 'now'),
      await port.update('u1', 'now'),
      await port.update('u2', 'later'),
      await port.signal('release'),
      await port.result(),
    ],
  ],
  [
    'an update that is refused leaves no trace',
    async (port) => [
      await port.start('waits'),
      await port.update('u1', 'refused'),
      await port.update('u1', 'now'),
      await port.signal('release'),
      await port.result(),
    ],
  ],
  [
    'an update that fails was accepted',
    async (port) => [
      await port.start('waits'),
      await port.update('u1', 'fails'),
      await port.signal('release'),
      await port.result(),
    ],
  ],
  [
    'an update after the end finds nobody, and a repeated one its answer',
    async (port) => [
      await port.start('waits'),
      await port.update('u1', 'now'),
      await port.signal('release'),
      await port.result(),
      await port.update('u1', 'now'),
      await port.update('u2', 'now'),
    ],
  ],
  [
    'a query counts signals',
    async (port) => [
      await port.start('waits'),
      await port.signal('note'),
      await port.signal('note'),
      await port.query(),
      await port.signal('release'),
      await port.result(),
    ],
  ],
  [
    'a cancellation ends it',
    async (port) => [await port.start('waits'), await port.cancel(), await port.result()],
  ],
  [
    'a cancelled one cleans up',
    async (port) => [await port.start('cleans up'), await port.cancel(), await port.result()],
  ],
  [
    'a termination ends it',
    async (port) => [await port.start('waits'), await port.terminate(), await port.result()],
  ],
  [
    'nothing can be sent to one that has ended',
    async (port) => [
      await port.start('timer'),
      await port.result(),
      await port.signal('note'),
      await port.cancel(),
      await port.terminate(),
    ],
  ],
  [
    'it runs once under its id',
    async (port) => [
      await port.start('waits'),
      await port.start('waits'),
      await port.signal('release'),
      await port.result(),
      await port.start('timer'),
      await port.result(),
    ],
  ],
  [
    'the next run takes what comes next',
    async (port) => [
      await port.start('continues as new once released'),
      await port.update('u1', 'now'),
      await port.signal('release'),
      await port.update('u2', 'now'),
      await port.signal('release'),
      await port.result(),
    ],
  ],
];
