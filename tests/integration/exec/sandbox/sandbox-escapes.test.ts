// X4, X5: what runs in a sandbox does nothing to its host, seen from outside. Each way out is tried without a sandbox
// first: there it works, so it is the sandbox that keeps it from working.
import { noSandbox } from '../../../helpers/hosts/sandbox';
import { PROBES, PROBES_OF_NAMESPACES, tidy, type Probe } from './escape-probes';
import { NOBODY, noHostOfUser } from './host-of-user';
import { Outside } from './outside-of-sandbox';
import { asMe, asMeWithNames, asUserWithNames, type Runner } from './probe-runner';
import { eventually } from '../session-processes';

/** Whether it succeeded within `ms` of the end of its command: a kill takes a moment. */
async function tries(
  { code, worked, before }: Probe,
  out: Outside,
  runner: Runner,
  ms: number,
): Promise<boolean> {
  const { workspace } = runner;
  tidy(workspace);
  before?.(out, workspace);
  out.prepare();
  await runner.run(code(out));
  // What a holder writes for the next command is a way out too.
  await runner.run(':');
  return eventually(
    () => worked(out, workspace),
    (done) => done,
    ms,
  );
}

/** Root is stopped by nothing but the sandbox; a user also by what only root may do. */
const applies =
  (isRoot: boolean) =>
  (probe: Probe): boolean =>
    isRoot ? !probe.asUser : !probe.asRoot && (probe.userCan?.() ?? true);
const isRoot = process.getuid?.() === 0;
const me = isRoot ? 'root' : 'a user';
// Only root can make a set-user-ID program of root's.
const isOfMine = (probe: Probe): boolean => applies(isRoot)(probe) && !probe.asUser;

describe.each([
  [me, asMe, noSandbox(), undefined, PROBES.filter(isOfMine)],
  [`${me} with named hosts`, asMeWithNames, noSandbox(), undefined, PROBES_OF_NAMESPACES.filter(isOfMine)],
  [
    'nobody with named hosts',
    asUserWithNames,
    noHostOfUser() ?? noSandbox(),
    { uid: NOBODY, gid: NOBODY },
    PROBES.filter(applies(false)),
  ],
] as const)('as %s', (...[, open, missing, user, probes]) => {
  if (missing !== undefined) {
    test.skip.each(probes)(`a sandboxed command does not $name (not checked: ${missing})`, () => undefined);
    return;
  }
  let out: Outside;
  let free: Runner;
  let confined: Runner;
  beforeAll(async () => {
    out = new Outside(user);
    await out.listen();
    [free, confined] = [open(null), open(out.home, out.shown)];
    // A shell learns at its start what it sees.
    for (const { workspace } of [free, confined]) PROBES.forEach(({ before }) => before?.(out, workspace));
  });
  afterAll(async () => {
    const ended = await Promise.allSettled([free.end(), confined.end(), out.end()]);
    expect(ended.filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  test.each(probes)('a sandboxed command does not $name', async (probe) => {
    // First the one that fails: what the other has done is there then.
    expect(await tries(probe, out, confined, 30)).toBe(false);
    expect(await tries(probe, out, free, 5_000)).toBe(true);
  });
});
