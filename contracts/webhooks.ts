// Webhooks: which events there are, and what is sent to a receiver. Plain JSON, no I/O.

export const WEBHOOK_EVENTS = [
  'agent.waiting_input',
  'agent.waiting_approval',
  'turn.ended',
  'agent.ended',
  'session.lost',
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

/** Sent when somebody asks for it, to see whether the receiver answers. */
export const TEST_EVENT = 'webhook.test';

export interface WaitingData {
  agent: string;
  /** ISO 8601. */
  since: string;
  for: 'input' | 'person' | 'approval';
  /** The wait: of an approval, the approval's own id. A long one is replaced by its hash. */
  id: string;
  /** The session or the turn that waits. */
  workflowId: string;
  /** Null if a turn waits. */
  session: { host: string; session: number } | null;
}

export interface EndedData {
  agent: string;
  workflowId: string;
  runId: string;
  /** The turn of `turn.ended`. */
  turn?: number;
  endedAt: string;
  /** Temporal's word: `completed`, `failed`, `canceled`, `terminated`, `timed_out`. */
  how: string;
  /** Why the turn ended, or the last one; null if it has no result. */
  reason: string | null;
  /** The code of its error in the catalogue; null without one. */
  error: string | null;
}

export interface LostData {
  agent: string;
  since: string;
  session: { host: string; session: number };
  workflowId: string;
  /** The command that is lost. */
  command: string;
}

/** What a receiver gets: the body, and its id as the header `webhook-id`. Holds no code, no output and no secret. */
export interface WebhookEvent {
  /** The same for the same event, however often it is sent. */
  id: string;
  type: WebhookEventType | typeof TEST_EVENT;
  /** When it happened, ISO 8601. */
  timestamp: string;
  data: WaitingData | EndedData | LostData | { webhook: string };
}

/** Where a webhook looks next in a namespace: everything wanted before `latest` was found, what is in `seen` too. */
export interface WebhookPlace {
  /** ISO 8601, by the server's clock; null: nothing was found yet. */
  latest: string | null;
  /** Ids, shortened, of events shortly before and after `latest`. */
  seen: string[];
}

/** The place in the agents' own namespace. */
export interface WebhookCursor extends WebhookPlace {
  /**
   * Those in the namespaces of hosts, by name. A host can neither move another place than its own, nor be passed
   * over while its namespace cannot be read. One that is not there yet begins at the agents' own place.
   */
  hosts?: Record<string, WebhookPlace>;
}

export interface WebhookLook {
  webhook: string;
  /** Nothing from before is sent. ISO 8601. */
  since: string;
  cursor: WebhookCursor;
}

export interface WebhookFound {
  events: WebhookEvent[];
  cursor: WebhookCursor;
}

export interface WebhookDelivery {
  webhook: string;
  event: WebhookEvent;
}

/** They run where the agents are. */
export interface WebhookActivities {
  /** Waits for events, some minutes at most. */
  lookForEvents(input: WebhookLook): Promise<WebhookFound>;
  /** Sends one event once. Throws `webhook_failed` unless the receiver took it, and is then tried again. */
  deliverEvent(input: WebhookDelivery): Promise<void>;
}

export interface WebhookInput {
  /** The name of its settings, which are no part of any history: its address may be a secret. */
  webhook: string;
}

/** The status by which a receiver says that it wants no more. */
export const GONE = 410;
/** The longest time that a receiver can ask for. */
export const MOST_HELD_MS = 3_600_000;

/** Nothing is sent, because the receiver asked for it. */
export interface WebhookHeld {
  /** ISO 8601, of the first event that it did not take. */
  since: string;
  /** ISO 8601; null if it said that it is gone: then until it takes a test. */
  until: string | null;
  /** How often it said so, one after the other. */
  times: number;
  reason: string;
}

/** What the workflow of a webhook knows. */
export interface WebhookState {
  webhook: string;
  since: string;
  /** Events that are not delivered yet, and the oldest one's time of discovery. */
  waiting: number;
  waitingSince: string | null;
  delivered: number;
  /** Null while it sends. */
  held: WebhookHeld | null;
}

export const webhookWorkflowId = (webhook: string): string => `webhook/${webhook}`;

/** Where the secret of a webhook is. */
export type WebhookSecret = { value: string } | { file: string } | { variable: string };

/** A webhook, without its secret. */
export interface WebhookSettings {
  id: string;
  url: string;
  events: readonly WebhookEventType[];
  /** Patterns of agent ids. */
  agents: readonly string[];
  source: 'api' | 'config';
  createdAt: string;
}

/** A webhook as the API lists it. */
export interface WebhookEntry extends WebhookSettings {
  /** Null if no worker says. */
  waiting: number | null;
  /** Null while events are found and accepted, or there are none. */
  failing: { since: string; attempts: number; reason: string } | null;
}
