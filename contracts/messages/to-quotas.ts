// The messages of `quota`, the workflow that counts what models use in a day.
import type { DayUse, ModelUse } from '../models/daily-quota';
import { query, signal } from './message';

export const QUOTA_MESSAGES = {
  state: query<undefined, DayUse | null>({
    name: 'state',
    from: 'a worker',
    does: 'What the models of all agents have used today',
  }),
  used: signal<ModelUse>({
    name: 'used',
    from: 'a worker',
    does: 'What a model call has used',
    request: { schema: 'modelUseSchema', what: 'The use of a model' },
  }),
};
