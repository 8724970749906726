// The part of the error catalogue about `holdfast serve`: who may ask for what.
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
    () => 'Use a token that may (`holdfast token create`), or ask an administrator for one.',
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
};
