// Programs that a machine may lack. Tests find them here only, and say first that they need them: without that they fail
// on a machine that has them, too. What needs a program that is missing is skipped, with the reason in its title.
// `.ci/bare` hides them all.
import { findOnPath } from '../../../system/executable';

/** The package of Debian that has each. */
export const PACKAGES = {
  bwrap: 'bubblewrap',
  chromium: 'chromium',
  curl: 'curl',
  fish: 'fish',
  ip: 'iproute2',
  openssl: 'openssl',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  rg: 'ripgrep',
  ssh: 'openssh-client',
  sshd: 'openssh-server',
  tmux: 'tmux',
  zsh: 'zsh',
} as const;
export type Program = keyof typeof PACKAGES;

const OTHER_NAMES: Partial<Record<Program, readonly string[]>> = {
  chromium: ['chromium-browser', 'google-chrome'],
};
/** Some are not on a user's PATH. */
const ALSO_IN = ['/usr/sbin', '/usr/local/sbin', '/sbin'];

const find = (program: Program): string | undefined =>
  [program, ...(OTHER_NAMES[program] ?? [])]
    .map((name) => findOnPath(name, [process.env.PATH, ...ALSO_IN].join(':')))
    .find((path) => path !== undefined);

/** By this test file. */
const askedFor = new Set<Program>();

/** Why this machine cannot run what needs them; undefined if it can. */
export function missingOf(...programs: Program[]): string | undefined {
  for (const one of programs) askedFor.add(one);
  const program = programs.find((one) => find(one) === undefined);
  return program && `no ${program}: install ${PACKAGES[program]}`;
}

declare global {
  /** Read by patient-environment.js. */
  var notChecked: string | undefined;
}

/** Where it is. Throws if it was not asked before whether it is there. */
export function pathOf(program: Program): string {
  if (!askedFor.has(program))
    throw new Error(`Tests that start ${program} say so: fileNeeds('${program}') or testWith('${program}').`);
  const path = find(program);
  if (path === undefined) throw new Error(`${missingOf(program)}`);
  return path;
}

/** A test that is skipped without one of them. */
export function testWith(...programs: Program[]): (title: string, run: () => unknown, ms?: number) => void {
  const missing = missingOf(...programs);
  return missing === undefined
    ? (title, run, ms) => test(title, async () => void (await run()), ms)
    : (title) => test.skip(`${title} (not checked: ${missing})`, () => undefined);
}

/** Without one of them all tests of the file are skipped, and nothing of it is started. */
export function fileNeeds(...programs: Program[]): void {
  globalThis.notChecked ??= missingOf(...programs);
}
