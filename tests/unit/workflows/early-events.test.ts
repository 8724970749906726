// Which activations reach a workflow: not those whose events come with a query.
import { AFTER_END, ASKED_TOO_EARLY } from '../../../contracts/messages/message';
import { interceptors } from '../../../workflows/messages/early-events';

interface Given {
  at?: number;
  events?: number;
  bytes?: number;
  isReplaying?: boolean;
  query?: string;
}

function workflow(): (given: Given) => string[] {
  const internals = interceptors().internals?.[0];
  return ({ at = 0, events = 0, bytes = 0, isReplaying = false, query }) => {
    const reached: string[] = [];
    const queryWorkflow = query === undefined ? null : { queryType: query };
    const jobs = [queryWorkflow ? { queryWorkflow } : { signalWorkflow: {} }];
    const activation = {
      ...{ jobs, isReplaying, historyLength: events },
      ...{ timestamp: { seconds: at }, historySizeBytes: bytes },
    };
    internals?.activate?.({ activation, batchIndex: 0 } as never, () =>
      reached.push(queryWorkflow?.queryType ?? 'events'),
    );
    return reached;
  };
}

test('each task reaches the workflow, also one that the server stamps with a time of before', () => {
  const activate = workflow();
  expect(activate({ at: 100, events: 3, bytes: 500 })).toEqual(['events']);
  // The SDK keeps the latest time.
  expect(activate({ at: 100, events: 9, bytes: 900 })).toEqual(['events']);
  expect(activate({ query: 'state' })).toEqual(['state']);
});

test('events of no task do not, and what was asked with them is refused', () => {
  const activate = workflow();
  activate({ at: 100, events: 3, bytes: 500 });
  expect(activate({ at: 100, events: 5, bytes: 500 })).toEqual([]);
  expect(() => activate({ query: 'state' })).toThrow(ASKED_TOO_EARLY);
  expect(() => activate({ at: 101, events: 6, bytes: 900 })).toThrow(ASKED_TOO_EARLY);
});

test('a workflow that has ended answers as of its last task', () => {
  const activate = workflow();
  activate({ at: 100, events: 3, bytes: 500 });
  activate({ at: 100, events: 5, bytes: 500 });
  expect(activate({ query: `state${AFTER_END}` })).toEqual(['state']);
  expect(activate({ query: `state${AFTER_END}` })).toEqual(['state']);
});
