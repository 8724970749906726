// `holdfast doctor` on who can use the embedded server: its gRPC port does not authenticate clients.
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

export interface ReachCheck {
  status: 'ok' | 'warn';
  found: string;
  next?: string;
}

/** People, by the usual numbers (`UID_MIN` and `UID_MAX` of login.defs), who can log in. */
const FIRST_PERSON = 1_000;
const LAST_PERSON = 60_000;
const NO_LOGIN = /\/(?:nologin|false|sync)$/;
const SHOWN = 3;

/** Reads this machine's user list; users of a directory service are not in it. */
export function checkReach(users = readUsers(), own = userInfo().uid): ReachCheck {
  const others = users
    .split('\n')
    .map((line) => line.split(':'))
    .filter(
      ([, , uid, , , , shell = '']) => isPerson(Number(uid)) && Number(uid) !== own && !NO_LOGIN.test(shell),
    )
    .map(([name = '']) => name);
  if (others.length === 0)
    return { status: 'ok', found: 'your programs; no other person has a login on this machine' };
  const names = others.slice(0, SHOWN).join(', ') + (others.length > SHOWN ? ' and others' : '');
  return {
    status: 'warn',
    found: `other users of this machine too (${names}): its gRPC port asks for no password, and can run commands as you`,
    next: 'on a shared machine, use a Temporal server with mTLS (--address or --profile)',
  };
}

const isPerson = (uid: number): boolean => uid >= FIRST_PERSON && uid <= LAST_PERSON;

function readUsers(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}
