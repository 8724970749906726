// The stubs of a host's scripts: they follow the tools of its worker.
import { StubFolder } from '../../exec/host/stub-folder';
import type { ToolRegistry } from '../../tools/registry';
import { stubFiles } from '../../tools/stubs/stub-files';
import { RepeatedLook } from '../repeated-look';

export interface PublishedStubsOptions {
  folder: string;
  tools: ToolRegistry;
  log: (message: string, facts: object) => void;
  /** Between two attempts to publish, in milliseconds. */
  everyMs?: number | undefined;
}

export class PublishedStubs {
  readonly folder: StubFolder;
  /** The disk may have been full: no change of the tools would come to publish them again. */
  private readonly looks: RepeatedLook;
  private isDue = true;
  private isOver = false;
  private stopFollowing = (): void => undefined;

  /** Publishes the tools that are known now, unless an earlier worker has published some. */
  constructor(private readonly options: PublishedStubsOptions) {
    this.folder = new StubFolder(options.folder);
    this.looks = new RepeatedLook(
      async () => this.isDue && this.publish(),
      (reason) => options.log('the tools of scripts could not be published', { reason }),
      options.everyMs,
    );
    if (this.folder.isEmpty) this.publish();
  }

  /**
   * Follows the tools until `stop`. Stubs of an earlier worker stay until MCP servers have connected: otherwise a script
   * that starts in between would miss their functions. Call it once the servers are started.
   */
  async start(): Promise<void> {
    const { tools } = this.options;
    await tools.settled();
    if (this.isOver) return;
    this.stopFollowing = tools.onChange(() => this.follow());
    this.isDue = true;
    this.looks.start({ now: true });
  }

  stop(): void {
    this.isOver = true;
    this.stopFollowing();
    this.looks.stop();
  }

  /** Never throws into the source of the change: a full disk is no fault of an MCP server that has just connected. */
  private follow(): void {
    try {
      this.publish();
    } catch {
      // The next look tries again, and reports it.
    }
  }

  private publish(): void {
    this.isDue = true;
    this.folder.publish(stubFiles(this.options.tools.describe(), { node: process.execPath }));
    this.isDue = false;
  }
}
