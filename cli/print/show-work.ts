// What `holdfast ps` and `holdfast tree` share: agents, turns and sessions, drawn once or again and again.
import { openContext } from '../context';
import type { Define } from '../define-command';
import type { GlobalOptions } from '../global-options';
import type { CliContext } from '../open-context';
import { inertLine } from '../../contracts/text/inert';
import { isOfThisRelease, releaseText } from '../../workers/process/worker-record';
import { visibleJson } from './print-json';
import { note } from '../terminal/terminal-style';
import { watch } from '../waiting/watch';
import { reportUnread, unreadText } from './report-unanswered';
import { allWork, type Work, type WorkChoice } from './work';

export interface PsOptions extends GlobalOptions {
  all?: boolean;
  watch?: boolean;
}

/** The options of both. */
export const ofWork: Define = (command) =>
  command
    .option('--all', 'also what has ended lately, and who ended it')
    .option('--watch', 'keep refreshing');

export async function showWork(
  options: PsOptions & Pick<WorkChoice, 'patienceMs'>,
  select: (work: Work[], context: CliContext) => Work[] | Promise<Work[]>,
  draw: (work: Work[]) => string,
): Promise<number> {
  await using context = await openContext(options, { start: false, staysOnFullDisk: true });
  const worker = workerFacts(context);
  const { patienceMs } = options;
  const render = async (): Promise<string> => {
    const unread: string[] = [];
    const onUnread = (namespaces: string[]): unknown => unread.push(...namespaces);
    const all = await allWork(context, { ended: options.all ?? false, patienceMs, onUnread });
    const work = await select(all, context);
    if (!options.json) return `${draw(work)}${listedNote(work)}${unreadNote(unread)}`;
    reportUnread(options, unread);
    return `${visibleJson(work.map((one) => ({ ...one, worker })))}\n`;
  };
  if (context.worker && !options.json && !isOfThisRelease(context.worker))
    note(
      `the worker (pid ${context.worker.identity.pid}) is of release ${inertLine(releaseText(context.worker.release))}; \`holdfast up\` replaces it by this one`,
    );
  if (options.watch) return await watch(render);
  process.stdout.write(await render());
  return 0;
}

/** Empty if all were asked. */
function listedNote(work: Work[]): string {
  const count = work.filter(({ listed }) => listed).length;
  if (count === 0) return '';
  return `${count} of these ${work.length} could not be asked in time, and are as the server lists them\n`;
}

const unreadNote = (namespaces: readonly string[]): string =>
  namespaces.length === 0 ? '' : `${unreadText(namespaces)}\n`;

/** The data folder's worker, the same for all rows: null if none runs. `release` is null if it does not say. */
const workerFacts = ({ worker }: CliContext): object | null =>
  worker ? { pid: worker.identity.pid, release: worker.release ?? null } : null;
