// A server, Holdfast's workers and a host, all for one test file. Everything but the model and a simulated host is
// production code.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { WorkflowNotFoundError, type DataConverter } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { AgentHandle } from '../client/agents/agent-handle';
import { makeClosable } from '../client/delivery/closed-connection';
import { requestFailure } from '../client/delivery/request-failure';
import { sealsWith } from '../client/delivery/sealing';
import { HoldfastClient } from '../client/holdfast-client';
import type { SessionHandle } from '../client/session-handle';
import type { TurnResult } from '../contracts/agents/agent';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { hostWorkflowId, LOCAL_HOST, turnWorkflowId } from '../contracts/ids';
import { requireNode } from '../system/node-version';
import {
  ANY,
  checkOptions,
  CONVERTER,
  FUNCTION,
  FUNCTIONS,
  rule,
  withMethods,
  type Rule,
} from '../workers/checked-options';
import type { ModelProvider } from '../models/provider';
import type { ModelProviders } from '../models/providers';
import type { Tool } from '../tools/tool';
import { startLocalServer } from './local-server';
import { quietenRuntime } from './quiet-runtime';
import { RealHost } from './real-host';
import { serve, type Serving } from './test-workers';
import { SimulatedHost, simulatedHost } from './simulated-host';
import { startTestServer } from './test-server';

export interface TestEnvironmentOptions {
  /** Default: a simulated host that knows no command. */
  host?: SimulatedHost | RealHost | undefined;
  /** Tools in addition to the built-in ones. */
  tools?: readonly Tool[] | undefined;
  /** Model providers in addition to the built-in ones and those of `model()`. */
  models?: ModelProviders | undefined;
  /** For encrypted payloads: `encryptedPayloads` of `holdfast/encryption`. */
  dataConverter?: DataConverter | undefined;
  /** Reports downloads and builds, which take minutes the first time. Default: standard error. */
  progress?: ((line: string) => void) | undefined;
}

const RULES = {
  host: rule(
    'what simulatedHost({ ... }) or realHost() returns',
    (value) => value instanceof SimulatedHost || value instanceof RealHost,
  ),
  tools: ANY,
  models: FUNCTIONS,
  dataConverter: CONVERTER,
  progress: FUNCTION,
} satisfies Record<keyof TestEnvironmentOptions, Rule>;

/** A seal carries the time of the machine, and a workflow that began in skipped time refuses it as too old. */
const UNSEALED = rule(
  `${CONVERTER.allowed}. Where time is skipped, only without \`required\`: sealed messages carry the time of this ` +
    'machine, not that of the server. createLocal() takes it',
  (value) =>
    CONVERTER.fits(value) && !sealsWith(value as DataConverter | undefined, hostWorkflowId(LOCAL_HOST)),
);

/** Between two looks for a turn that is about to begin. */
const LOOK_MS = 20;

export class HoldfastTestEnvironment {
  private readonly providers = new Map<string, ModelProvider>();
  private serving: Serving | undefined;
  private closing: Promise<void> | undefined;
  /** Waiting for a result through this client skips time, if the server supports it. */
  readonly client: HoldfastClient;

  private constructor(
    /** Temporal's own test environment: its `nativeConnection` is for workers of your own workflows. */
    readonly temporal: TestWorkflowEnvironment,
    private readonly dataDir: string,
  ) {
    makeClosable(temporal.connection);
    this.client = new HoldfastClient(temporal.client, temporal.address);
  }

  /**
   * On a server that skips time while a result is awaited: days pass in seconds. Time is the server's, so tests of one
   * environment run one after the other; it is not skipped while an activity runs. That server cannot list workflows.
   * Throws `invalid_input`, also for encryption that is required, `test_server_missing` and `node_too_old`.
   */
  static async createTimeSkipping(options: TestEnvironmentOptions = {}): Promise<HoldfastTestEnvironment> {
    prepare('createTimeSkipping()', options, { ...RULES, dataConverter: UNSEALED });
    return HoldfastTestEnvironment.create(await startTestServer(process.env, options.dataConverter), options);
  }

  /** On a full Temporal server, in real time. Throws `invalid_input`, `engine_missing` and `node_too_old`. */
  static async createLocal(options: TestEnvironmentOptions = {}): Promise<HoldfastTestEnvironment> {
    prepare('createLocal()', options);
    const { progress = (line: string): void => void process.stderr.write(`${line}\n`) } = options;
    return HoldfastTestEnvironment.create(await startLocalServer(progress, options.dataConverter), options);
  }

  private static async create(
    temporal: TestWorkflowEnvironment,
    options: TestEnvironmentOptions,
  ): Promise<HoldfastTestEnvironment> {
    const env = new HoldfastTestEnvironment(temporal, mkdtempSync(join(tmpdir(), 'holdfast-testing-')));
    const { host = simulatedHost(), tools = [], models: own = {}, dataConverter } = options;
    const test = (name: string): ModelProvider => env.provider(name);
    try {
      if (Object.hasOwn(own, 'test'))
        throw new HoldfastError('config_invalid', {
          faults: 'model provider test: the name is that of model()',
        });
      const models = { ...own, test };
      env.serving = await serve({ temporal, dataDir: env.dataDir, host, tools, models, dataConverter });
      return env;
    } catch (err) {
      await env.close();
      throw err;
    }
  }

  agent(id: string): AgentHandle {
    return this.client.agent(id);
  }

  session(...args: Parameters<HoldfastClient['session']>): SessionHandle {
    return this.client.session(...args);
  }

  /** Registers a model; returns the name by which an agent asks for it. Throws `invalid_input`. */
  model(provider: ModelProvider): string {
    if (!MODEL.fits(provider))
      throw new HoldfastError('invalid_input', {
        what: 'What model() takes',
        got: inspect(provider, { depth: 1 }),
        allowed: MODEL.allowed,
      });
    const name = String(this.providers.size + 1);
    this.providers.set(name, provider);
    return `test:${name}`;
  }

  /**
   * The outcome of an agent's turn, once it has begun and ended. For `turnMatchers`, `assertTurn` and `toolCallsOf`.
   * Throws `not_found` if there is no such agent, or if it has ended without this turn.
   */
  async turn(agent: string, number = 1): Promise<TurnResult> {
    for (let mayBegin = true; ; await delay(LOOK_MS)) {
      const result = await this.resultOf(turnWorkflowId(agent, number));
      if (result) return result;
      if (!mayBegin)
        throw new HoldfastError('not_found', {
          what: `Turn ${number} of agent ${agent}`,
          got: number,
          allowed: 'a turn that it has begun',
          next: 'Count its turns: each message that is not answered within one begins another.',
        });
      // Once more: it may have begun before its agent ended.
      mayBegin = !(await this.agent(agent).run()).isOver;
    }
  }

  /** Lets this much time pass on the server: at once if it skips time. */
  sleep(ms: number): Promise<void> {
    return this.temporal.sleep(ms);
  }

  /**
   * Ends workers, shells and server, and removes what they wrote; may be called repeatedly. Throws the first error of
   * the test's own code in its simulated host: an agent only reads such an error.
   */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    try {
      await this.serving?.end();
    } finally {
      await this.temporal.teardown();
      rmSync(this.dataDir, { recursive: true, force: true });
    }
  }

  /** Undefined if the turn is not known to the server. */
  private async resultOf(workflowId: string): Promise<TurnResult | undefined> {
    try {
      return (await this.temporal.client.workflow.getHandle(workflowId).result()) as TurnResult;
    } catch (err) {
      if (err instanceof WorkflowNotFoundError) return undefined;
      throw requestFailure(err, this.temporal.address) ?? err;
    }
  }

  private provider(name: string): ModelProvider {
    const provider = this.providers.get(name);
    if (provider) return provider;
    const allowed = [...this.providers.keys()].map((known) => `test:${known}`).join(', ');
    throw new HoldfastError('model_unknown', {
      got: `test:${name}`,
      allowed: allowed || 'what model() returns',
    });
  }
}

const MODEL = withMethods('a model provider, such as scriptedModel([...]): an object with reply()', 'reply');

function prepare(of: string, options: TestEnvironmentOptions, rules: Record<string, Rule> = RULES): void {
  requireNode();
  checkOptions(of, options, rules);
  quietenRuntime();
}
