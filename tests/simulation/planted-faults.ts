// Guards of the shipped workflows that each keep a guarantee in some order of events, and what the bundle is like without
// them. The simulation has to find each one.

export interface PlantedFault {
  /** What is missing then. */
  name: string;
  /** In the text of the bundle, as often as it is there. */
  without: string;
  instead: string;
}

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    name: 'a command that was sent before is answered, whatever runs now',
    without: 'if (command?.id !== id && this.ids.isKnownCommand(id))',
    instead: 'if (false)',
  },
  {
    name: 'the host learns which reset of the session it carries out',
    without: '...(number !== null && { number })',
    instead: '',
  },
  {
    name: 'a yield is that of the command that runs',
    without: 'if (!command || (0, session_record_1.idOnHost)(command) !== commandId)\n            return;',
    instead: 'if (!command) return;',
  },
  {
    name: 'an approval names the hash that was shown',
    without: 'if (hash !== undefined && hash !== found.hash)',
    instead: 'if (false)',
  },
  {
    name: 'a cancelled session waits for what its host does',
    without: 'return workflow_1.CancellationScope.nonCancellable(() => this.askedOfHost(work, reader));',
    instead: 'return this.askedOfHost(work, reader);',
  },
  {
    name: 'a message that was taken before is not taken again',
    without: 'if (this.find(id))\n            return false;',
    instead: '',
  },
  {
    name: 'an agent that is cancelled ends its turn before it answers an interruption',
    without:
      'await workflow_1.CancellationScope.nonCancellable(() => (0, workflow_1.condition)(isOver));\n    }\n    stop',
    instead: 'await (0, workflow_1.condition)(isOver);\n    }\n    stop',
  },
  {
    name: 'a person is not asked again about a script whose packages were installed meanwhile',
    without: 'if (code === this.input.code)\n                this.cleared = hash;',
    instead: '',
  },
  {
    name: 'a recovery that came during a turn is not lost',
    without: 'const hasWork = () => this.queue.length > 0 || phase.recoverReason !== null;',
    instead: 'const hasWork = () => this.queue.length > 0;',
  },
  {
    name: 'a call of a script waits for its approval',
    without: "if (hold && call.state.is !== 'running')",
    instead: 'if (false)',
  },
];

/** Throws if the guard is not there: it has another form by now. */
export function withFault(bundle: string, { name, without, instead }: PlantedFault): string {
  if (!bundle.includes(without)) throw new Error(`the bundle has no such guard: ${name}`);
  return bundle.replaceAll(without, instead);
}
