// The log of a process of ours: one JSON line for each event, on stderr, which `holdfast up` leads to a file. Has the
// shape of the Temporal SDK's `Logger`, so that the SDK's own lines go here too.
import pino from 'pino';
import { subjectOf } from '../../contracts/ids';
import { LOG_LEVELS, type LogLevel } from '../../contracts/text/log-levels';

/** Which kind of process writes. */
export type LoggingProcess = 'worker' | 'host' | 'gateway';

type Facts = Record<string, unknown>;

export class ProcessLog {
  private readonly lines: pino.Logger;

  constructor(kind: LoggingProcess, level: LogLevel, write: (line: string) => void = toStderr) {
    this.lines = pino(
      {
        level,
        base: { process: kind, pid: process.pid },
        messageKey: 'message',
        errorKey: 'error',
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }), log: withSubject },
        serializers: { error: pino.stdSerializers.errWithCause },
      },
      { write },
    );
  }

  /** Node's own warnings become lines, too. To be called before anything is awaited. */
  takeWarnings(): this {
    process.removeAllListeners('warning');
    process.on('warning', ({ name, message }) =>
      this.log(name === 'ExperimentalWarning' ? 'debug' : 'warn', message, { warning: name }),
    );
    return this;
  }

  /** @param level as the SDK names it, such as `INFO` */
  log(level: string, message: string, facts: Facts = {}): void {
    const known = LOG_LEVELS.find((one) => one === level.toLowerCase()) ?? 'info';
    this.lines[isNoise(facts, message) ? 'debug' : known](facts, message);
  }

  trace(message: string, facts?: Facts): void {
    this.log('trace', message, facts);
  }

  debug(message: string, facts?: Facts): void {
    this.log('debug', message, facts);
  }

  info(message: string, facts?: Facts): void {
    this.log('info', message, facts);
  }

  warn(message: string, facts?: Facts): void {
    this.log('warn', message, facts);
  }

  error(message: string, facts?: Facts): void {
    this.log('error', message, facts);
  }
}

/** The SDK says of each worker what it does not serve. */
const isNoise = ({ sdkComponent }: Facts, message: string): boolean =>
  sdkComponent === 'worker' && /^(?:No \w+ .*registered|Worker state changed)/.test(message);

/** Written at once: a process that is killed has written all that it logged. */
const toStderr = (line: string): void => void process.stderr.write(line);

/** Lines of the SDK name a workflow; people look for an agent, a turn or a session. */
function withSubject({ namespace, taskQueue, sdkComponent, workflowType, ...facts }: Facts): Facts {
  const { workflowId } = facts;
  const subject = typeof workflowId === 'string' ? subjectOf(workflowId) : {};
  // Of a workflow of ours the id says it all.
  if (Object.keys(subject).length > 0) return { ...subject, ...facts };
  return { ...facts, ...defined({ namespace, taskQueue, sdkComponent, workflowType }) };
}

const defined = (facts: Facts): Facts =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
