// The table of routes. Those of the log-in and of the page, which need no token, are in gateway.ts.
import type { AnyRoute } from '../http/route';
import { ACCESS_ROUTES } from './access-routes';
import { AGENT_ROUTES } from './agent-routes';
import { APPROVAL_ROUTES } from './approval-routes';
import { EVENT_ROUTES } from './event-routes';
import { FACT_ROUTES } from './fact-routes';
import { FAILURE_ROUTES } from './failure-routes';
import { IMAGE_ROUTES } from './image-routes';
import { FILE_ROUTES } from './file-routes';
import { INBOX_ROUTES } from './inbox-routes';
import { LOG_ROUTES } from './log-routes';
import { OIDC_ROUTES } from './oidc-routes';
import { SESSION_ROUTES } from './session-routes';
import { TIME_LINE_ROUTES } from './time-line-routes';
import { WEBHOOK_ROUTES } from './webhook-routes';
import { WORKSPACE_ROUTES } from './workspace-routes';

export const ALL_ROUTES: readonly AnyRoute[] = [
  ...AGENT_ROUTES,
  ...FAILURE_ROUTES,
  ...WORKSPACE_ROUTES,
  ...IMAGE_ROUTES,
  ...TIME_LINE_ROUTES,
  ...SESSION_ROUTES,
  ...LOG_ROUTES,
  ...FILE_ROUTES,
  ...APPROVAL_ROUTES,
  ...INBOX_ROUTES,
  ...EVENT_ROUTES,
  ...FACT_ROUTES,
  ...WEBHOOK_ROUTES,
  ...ACCESS_ROUTES,
  ...OIDC_ROUTES,
];
