// The part of the error catalogue about `holdfast serve`: who may ask for what, and webhooks.
import { entry, type With } from './error-entry';

export const GATEWAY_ERRORS = {
  access_needed: entry(
    77,
    false,
    'none',
    (f: With<'reason'>) => `This needs a token or a login: ${f.reason}; nothing was done.`,
    () =>
      'Send `Authorization: Bearer TOKEN` (`holdfast token create`), or open the page with the link that `holdfast ui` prints.',
  ),
  access_denied: entry(
    77,
    false,
    'none',
    (f: With<'what' | 'got' | 'allowed'>) =>
      `${f.what} is not allowed here: got ${f.got}, allowed ${f.allowed}; nothing was done.`,
    (f) =>
      String(f.next ?? 'Use a token that may (`holdfast token create`), or ask an administrator for one.'),
  ),
  request_refused: entry(
    77,
    false,
    'none',
    (f: With<'reason'>) => `The request was refused: ${f.reason}; nothing was done.`,
    () =>
      'Ask under a name that the gateway serves, from its own page or from a program; `holdfast serve --name` adds names.',
  ),
  too_many_requests: entry(
    75,
    true,
    'none',
    (f: With<'what' | 'allowed' | 'seconds'>) =>
      `${f.what} came too often: allowed ${f.allowed}; nothing was done.`,
    (f) => `Try again in ${f.seconds} seconds.`,
  ),
  webhook_failed: entry(
    69,
    true,
    'possible',
    (f: With<'webhook' | 'reason'>) =>
      `The receiver of webhook ${f.webhook} did not take an event: ${f.reason}.`,
    () => 'It is tried again, at least once a minute; see what the receiver says, and docs/webhooks.md.',
  ),
  issuer_failed: entry(
    69,
    true,
    'none',
    (f: With<'issuer' | 'reason'>) =>
      `The OpenID Connect issuer ${f.issuer} gave no usable answer: ${f.reason}; nothing was done.`,
    () =>
      'Try again later. If it persists, compare `[gateway.oidc]` in holdfast.toml with what the issuer has.',
  ),
};
