// What the package exports as `holdfast/testing`: for people who test their own workflows and agents.
export { HoldfastTestEnvironment, type TestEnvironmentOptions } from './environment';
export { scriptedModel, toolBlock, toolCall, type ScriptedModel } from './scripted-model';
export { simulatedHost, SimulatedHost } from './simulated-host';
export type { SimulatedAnswer, SimulatedCommand, SimulatedCommands } from './simulated-answer';
export { realHost, RealHost } from './real-host';
export { findTestServer } from './test-server';
export { assertReplays, replayHistories, type ReplaySources, type ReplayVerdict } from './replay';
export { recordHistory } from './read-history';
export { assertTurn, turnMatchers, type TurnAssertions, type TurnMatchers } from './assert-turn';
export { toolCallsOf, type ToolCallRecord } from './calls-of-turn';
