// Finds a dialect by its name. A dialect is one file and one line here.
import type { DialectName } from '../../contracts/agent';
import { agentJson } from './agent-json';
import type { Dialect } from './dialect';

const DIALECTS: Partial<Record<DialectName, Dialect>> = { 'agent-json': agentJson };

export const findDialect = (name: DialectName): Dialect => DIALECTS[name] ?? agentJson;
