// An engine of its own, a gateway on it and a client of its API, for the tests of a file.
import type { Role } from '../../../contracts/gateway/api';
import type { Gateway, GatewayOptions } from '../../../gateway/gateway';
import { EngineOfItsOwn } from '../engines/engine-of-its-own';
import { ApiClient, gatewayOn } from './gateway';
import { scratch } from '../engines/temporal';

export interface StartOptions {
  /** The text of `holdfast.toml`. */
  config?: string;
  /** The client's; default operator. */
  role?: Role;
  /** Default true. */
  worker?: boolean;
  gateway?: Partial<GatewayOptions>;
}

export class GatewayOfItsOwn {
  readonly engine = new EngineOfItsOwn();
  readonly files = scratch();
  private readonly started: { gateway?: Gateway; api?: ApiClient } = {};

  get gateway(): Gateway {
    return afterStart(this.started.gateway);
  }

  get api(): ApiClient {
    return afterStart(this.started.api);
  }

  async start({ config, role = 'operator', worker = true, gateway = {} }: StartOptions = {}): Promise<void> {
    const { engine, started } = this;
    if (config !== undefined) engine.configure(config);
    await engine.startServer();
    if (worker) await engine.startWorker();
    await engine.connect();
    started.gateway = await gatewayOn(engine, gateway);
    started.api = await ApiClient.of(started.gateway, role);
  }

  /** Closes whatever has been started; fails if a process of the data folder is left. */
  async end(): Promise<void> {
    try {
      await this.started.gateway?.close();
    } finally {
      this.files.remove();
      expect(await this.engine.end()).toEqual([]);
    }
  }
}

/** Throws for what is read too early. */
export function afterStart<T>(started: T | undefined): T {
  if (started === undefined) throw new Error('There before the first test, not while the file is read.');
  return started;
}
