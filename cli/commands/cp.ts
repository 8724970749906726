// `holdfast cp`: files and folders to an agent's host and back.
import type { Channel } from '../../exec/transfer/channel';
import { interrupted } from '../../exec/transfer/door/files-client';
import { receiveStream } from '../../exec/transfer/receiver/receive-stream';
import { receiveTree } from '../../exec/transfer/receiver/receive-tree';
import { sendStream } from '../../exec/transfer/sender/send-stream';
import { sendTree } from '../../exec/transfer/sender/send-tree';
import { filesOf, openFilesOf, type Asked, type FilesAccess } from '../../gateway/files/files-of-agent';
import { isElsewhere, isOwn, openContext } from '../context';
import type { CliContext } from '../open-context';
import { copyOf, type Copy } from '../files/side';
import { CopyReport, FROM_BEGINNING } from '../files/copy-report';
import { writeToStdout } from '../files/to-stdout';
import { tokenOf, type WayOptions } from '../terminal/host-token';
import { hostName, named, TOKEN_FILE } from '../arguments';
import { action, examples, type Define } from '../define-command';

interface CpOptions extends Omit<WayOptions, 'agent' | 'session'> {
  /** False for `--no-clobber`. */
  clobber?: boolean;
}

export const define: Define = (command) =>
  command
    .option('--host <name>', 'on which host (default: the agent’s)', hostName)
    .option('--no-clobber', 'leave files that exist as they are')
    .option('--token-file <file>', TOKEN_FILE, named)
    .addHelpText(
      'after',
      examples(
        'holdfast cp report.pdf planner:               into the folder of agent planner, on its host',
        'holdfast cp planner:out ./results             a folder back: as ./results, or into it if it exists',
        'holdfast cp laptop/planner:/var/log/app.log - the file on host laptop, to standard output',
        'tar c src | holdfast cp - planner:src.tar     from standard input',
      ),
    )
    .action(action(cp));

/** Ends with the code of the first file that failed; 130 after Ctrl-C. */
async function cp(from: string, to: string, options: CpOptions): Promise<number> {
  const copy = copyOf(from, to, process.cwd());
  await using context = await openContext(options, { start: false, restarts: true });
  const access = accessOf(context, options);
  const { agent, host } = copy.way === 'in' ? copy.to : copy.from;
  const files = await filesOf(access, { agent, host: host ?? options.host ?? null });
  const report = new CopyReport(process.stderr, options.json ? jsonTo(copy) : null, options);
  const channel = await openFilesOf(access, files, requestFor(copy, options));
  let isLeft = false;
  const leave = (): void => {
    isLeft = true;
    channel.close();
  };
  process.once('SIGINT', leave).once('SIGTERM', leave);
  report.start();
  try {
    await transfer(channel, copy, { report, clobber: options.clobber ?? true });
  } catch (err) {
    const next = isStandard(copy) ? { next: FROM_BEGINNING } : {};
    if (!isLeft && !report.hasReported(err)) throw interrupted(err, { host: files.host, ...next });
  } finally {
    report.stop();
    process.off('SIGINT', leave).off('SIGTERM', leave);
    channel.close();
  }
  return isLeft ? report.left({ isStandard: isStandard(copy) }) : report.end();
}

/** Whether one side is standard input or output. */
const isStandard = (copy: Copy): boolean => (copy.way === 'in' ? copy.from : copy.to) === '-';

function requestFor(copy: Copy, { clobber = true }: CpOptions): Asked {
  if (copy.way === 'in')
    return { is: 'put', path: copy.to.path, clobber, ...(copy.from === '-' && { only: 'file' }) };
  return { is: 'get', path: copy.from.path, ...(copy.to === '-' && { only: 'file' }) };
}

async function transfer(
  channel: Channel,
  copy: Copy,
  { report, clobber }: { report: CopyReport; clobber: boolean },
): Promise<void> {
  const { observer } = report;
  if (copy.way === 'in') {
    if (copy.from !== '-') return sendTree(channel, { path: copy.from.path, observer });
    await sendStream(channel, { name: 'stdin', data: process.stdin, size: null, observer });
  } else if (copy.to !== '-') {
    return receiveTree(channel, { target: copy.to.path, clobber, observer });
  } else {
    const { data } = await receiveStream(channel, observer);
    await writeToStdout(data);
  }
}

/** Where the file itself goes to standard output, nothing else may. */
const jsonTo = (copy: Copy): NodeJS.WriteStream =>
  copy.way === 'out' && isStandard(copy) ? process.stderr : process.stdout;

const accessOf = (context: CliContext, options: CpOptions): FilesAccess => ({
  client: context.client,
  dataDir: context.dataDir,
  token: tokenOf(options),
  ownHost: context.host,
  isLocal: (host) => isOwn(context, host),
  isElsewhere: (host) => isElsewhere(context, host),
});
