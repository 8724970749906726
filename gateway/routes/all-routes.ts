// The table of routes. Those of the log-in and of the page, which need no token, are in gateway.ts.
import type { AnyRoute } from '../http/route';
import { ACCESS_ROUTES } from './access';
import { AGENT_ROUTES } from './agents';
import { APPROVAL_ROUTES } from './approvals';
import { EVENT_ROUTES } from './events';
import { FACT_ROUTES } from './facts';
import { INBOX_ROUTES } from './inbox';
import { SESSION_ROUTES } from './sessions';

export const ALL_ROUTES: readonly AnyRoute[] = [
  ...AGENT_ROUTES,
  ...SESSION_ROUTES,
  ...APPROVAL_ROUTES,
  ...INBOX_ROUTES,
  ...EVENT_ROUTES,
  ...FACT_ROUTES,
  ...ACCESS_ROUTES,
];
