// A host with real terminals: shells run in a folder that is removed when the environment is closed.

export class RealHost {
  constructor(readonly options: { workdir?: string | undefined; env?: Readonly<Record<string, string>> }) {}
}

/** A host whose commands really run. `workdir` is where its shells start; default: an empty folder. */
export const realHost = (options: RealHost['options'] = {}): RealHost => new RealHost(options);
