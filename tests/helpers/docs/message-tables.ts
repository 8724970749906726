// The tables of messages, and who takes them.
import type { AnyMessage } from '../../../contracts/messages/message';
import { AGENT_MESSAGES, TURN_MESSAGES } from '../../../contracts/messages/to-agents';
import { APPROVAL_MESSAGES } from '../../../contracts/messages/to-askers';
import { HOST_MESSAGES } from '../../../contracts/messages/to-hosts';
import { QUOTA_MESSAGES } from '../../../contracts/messages/to-quotas';
import { WEBHOOK_MESSAGES } from '../../../contracts/messages/to-webhooks';
import { SESSION_MESSAGES } from '../../../contracts/messages/to-sessions';

export interface MessageTable {
  /** How docs/schemas begins the names of its files. */
  prefix: string;
  /** Its receiver, in words. */
  to: string;
  workflows: readonly string[];
  messages: Readonly<Record<string, AnyMessage>>;
}

export const MESSAGE_TABLES: readonly MessageTable[] = [
  { prefix: 'agent', to: 'an agent', workflows: ['agent'], messages: AGENT_MESSAGES },
  { prefix: 'turn', to: 'a turn', workflows: ['turn'], messages: TURN_MESSAGES },
  { prefix: 'execSession', to: 'a session', workflows: ['execSession'], messages: SESSION_MESSAGES },
  {
    prefix: 'approvals',
    to: 'a session or a turn',
    workflows: ['execSession', 'turn'],
    messages: APPROVAL_MESSAGES,
  },
  { prefix: 'webhook', to: 'a webhook', workflows: ['webhook'], messages: WEBHOOK_MESSAGES },
  { prefix: 'quota', to: 'the quota', workflows: ['quota'], messages: QUOTA_MESSAGES },
  { prefix: 'host', to: 'a host', workflows: ['host'], messages: HOST_MESSAGES },
];

export const kindsOf = ({ kinds }: AnyMessage): string[] => Object.keys(kinds);
