import { checkReach } from '../../../cli/doctor/check-reach';

const OWN = 1_000;
const line = (name: string, uid: number, shell: string): string =>
  `${name}:x:${uid}:${uid}::/home/${name}:${shell}`;
const SYSTEM = [
  line('root', 0, '/bin/bash'),
  line('www', 33, '/usr/sbin/nologin'),
  line('nobody', 65_534, '/bin/sh'),
];

test('if others can log in, the doctor names them and says what they can do', () => {
  const users = [...SYSTEM, line('me', OWN, '/bin/bash'), line('anna', 1_001, '/bin/zsh')].join('\n');
  expect(checkReach(users, OWN)).toMatchObject({
    status: 'warn',
    found: expect.stringMatching(/^other users of this machine too \(anna\).*gRPC port/) as string,
    next: expect.stringContaining('mTLS') as string,
  });
});

test('accounts of the system and those without a login are not people', () => {
  const users = [...SYSTEM, line('me', OWN, '/bin/bash'), line('build', 1_002, '/bin/false')].join('\n');
  expect(checkReach(users, OWN)).toMatchObject({ status: 'ok' });
});
