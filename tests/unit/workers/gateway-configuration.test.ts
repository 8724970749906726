// `[gateway.oidc]` of `holdfast.toml`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from '../../../workers/configuration/configuration';
import { docBlocks } from '../../helpers/docs/doc-blocks';
import { faultsIn, WrittenConfiguration } from '../../helpers/engines/written-configuration';
import { readGateway } from '../../../workers/configuration/read-gateway';

let written: WrittenConfiguration;
let folder: string;
let file: string;
beforeEach(() => {
  written = new WrittenConfiguration();
  ({ folder, file } = written);
});
afterEach(() => written.remove());

const read = (toml: string): Configuration => written.read(toml);
const faultsOf = (toml: string): string => written.faultsOf(toml);

describe('the issuer that lets people in', () => {
  const oidc = (lines: string): string =>
    `[gateway.oidc]\nissuer = "https://login.example.org"\nclient_id = "holdfast"\n${lines}`;
  const roles =
    '[gateway.oidc.roles]\n"team a" = { role = "operator", agents = ["a-*"] }\nall = { role = "viewer" }';

  test('has defaults; its secret is named, not read', () => {
    expect(read(oidc(`client_secret_file = "secret"\n${roles}`)).gateway.oidc).toEqual({
      issuer: 'https://login.example.org',
      name: 'login.example.org',
      clientId: 'holdfast',
      clientSecret: { file: join(folder, 'secret') },
      audience: null,
      scopes: ['openid', 'profile', 'email'],
      claim: 'groups',
      grants: [
        { value: 'team a', role: 'operator', agents: ['a-*'] },
        { value: 'all', role: 'viewer', agents: ['*'] },
      ],
      loginMs: 12 * 3_600_000,
      publicUrl: null,
    });
  });

  test.each([
    ['issuer = "http://login.example.org"\nclient_id = "x"', '"gateway.oidc.issuer" must be an https URL'],
    [
      'issuer = "no url"\nclient_id = "x"',
      '.toml: "gateway.oidc.issuer" must be an https URL; http is for this',
    ],
    ['issuer = "https://a.b"\nclient_id = "x"\naudience = "x"', 'has the client_id as "audience"'],
    ['issuer = "https://a.b"\nclient_id = "x"\nclient_secret = "s3"', 'the unknown key "client_secret"'],
    [
      'issuer = "https://a.b"\nclient_id = "x"\nclient_secret_env = "A"\nclient_secret_file = "b"',
      'has both, allowed one of',
    ],
    ['issuer = "https://a.b"\nclient_id = "x"\nscopes = ["email"]', 'allowed with it'],
    [
      'issuer = "https://a.b"\nclient_id = "x"\npublic_url = "http://a.b"',
      '"gateway.oidc.public_url" must be',
    ],
  ])('with %j is refused', (lines, fault) => {
    const faults = faultsOf(`[gateway.oidc]\n${lines}\n${roles}`);
    expect(faults).toContain(fault);
    expect(faults).not.toContain('s3');
  });

  test('has at least the roles, each with a role that exists', () => {
    expect(faultsOf(oidc(''))).toContain('"gateway.oidc.roles" must be a table, got nothing');
    expect(faultsOf(oidc('[gateway.oidc.roles]\nx = { role = "king" }'))).toContain(
      '"gateway.oidc.roles.x.role" must be one of "viewer", "operator", "admin"',
    );
    expect(faultsOf(oidc('[gateway.oidc.roles]\nx = { role = "viewer", agent = "a" }'))).toContain(
      'has the unknown key "agent" (did you mean "agents"?)',
    );
    expect(faultsOf(oidc('[gateway.oidc.roles]\nx = { role = "viewer", agents = ["A/b"] }'))).toContain(
      'must be an id, in which "*" stands for any characters',
    );
    expect(faultsOf(oidc('[gateway.oidc.roles]\nx = { role = "viewer", agents = [] }'))).toContain(
      '"gateway.oidc.roles.x.agents" must have an entry',
    );
  });

  test('has no admin of some agents: one could make tokens for all', () => {
    const admin = (agents: string): string =>
      oidc(`[gateway.oidc.roles]\nx = { role = "admin", agents = ${agents} }`);
    expect(faultsOf(admin('["a-*"]'))).toContain(
      '"gateway.oidc.roles.x" is an admin of some agents, allowed an admin of all',
    );
    expect(read(admin('["*"]')).gateway.oidc?.grants).toMatchObject([{ role: 'admin', agents: ['*'] }]);
  });

  test('has its secret from a variable or a private file, and is refused without it', () => {
    writeFileSync(file, oidc(`client_secret_env = "OIDC"\n${roles}`));
    expect(readGateway(folder, null, { OIDC: ' s3 ' }).oidc).toMatchObject({ clientSecret: 's3' });
    expect(faultsIn(() => readGateway(folder, null, {}))).toContain('the variable OIDC is not set');
    writeFileSync(file, oidc(`client_secret_file = "secret"\n${roles}`));
    writeFileSync(join(folder, 'secret'), 's3\n', { mode: 0o640 });
    expect(faultsIn(() => readGateway(folder, null, {}))).toContain('has mode 640, allowed 600');
    writeFileSync(file, oidc(roles));
    expect(readGateway(folder, null, {}).oidc).toMatchObject({ clientSecret: null });
    writeFileSync(file, '');
    expect(readGateway(folder, null, {}).oidc).toBeNull();
  });

  test('is configured as docs/api.md shows', () => {
    const [example] = docBlocks('api.md').filter(({ language }) => language === 'toml');
    expect(read(example?.code ?? '').gateway.oidc).toMatchObject({
      name: 'Example',
      loginMs: 8 * 3_600_000,
      grants: [
        { value: 'platform', role: 'admin', agents: ['*'] },
        { value: 'team a', role: 'operator', agents: ['team-a-*'] },
        { value: 'everyone', role: 'viewer', agents: ['*'] },
      ],
    });
  });
});
