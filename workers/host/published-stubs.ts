// The stubs of a host's scripts: they follow the tools of its worker.
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { StubFolder } from '../../exec/host/stub-folder';
import type { ToolRegistry } from '../../tools/registry';
import { stubFiles } from '../../tools/stubs/stub-files';

export interface PublishedStubsOptions {
  folder: string;
  tools: ToolRegistry;
  log: (message: string, facts: object) => void;
}

export class PublishedStubs {
  readonly folder: StubFolder;
  private isOver = false;
  private stopFollowing = (): void => undefined;

  /** Publishes the tools that are known now, unless an earlier worker has published some. */
  constructor(private readonly options: PublishedStubsOptions) {
    this.folder = new StubFolder(options.folder);
    if (this.folder.isEmpty) this.publish();
  }

  /**
   * Follows the tools until `stop`. Stubs of an earlier worker stay until MCP servers have connected: otherwise a script
   * that starts in between would miss their functions. Call it once the servers are started.
   */
  async start(): Promise<void> {
    const { tools, log } = this.options;
    await tools.settled();
    if (this.isOver) return;
    this.stopFollowing = tools.onChange(() => this.publish());
    try {
      this.publish();
    } catch (err) {
      log('the tools of scripts could not be published', { reason: reasonOf(err) });
    }
  }

  stop(): void {
    this.isOver = true;
    this.stopFollowing();
  }

  private publish(): void {
    this.folder.publish(stubFiles(this.options.tools.describe(), { node: process.execPath }));
  }
}
