// What is wrong in `holdfast.toml` is reported by its place and what is allowed there, and never by its value.
import { WrittenConfiguration } from '../../helpers/engines/written-configuration';

const SECRET = 'sk-planted-1234';
let written: WrittenConfiguration;
beforeEach(() => (written = new WrittenConfiguration()));
afterEach(() => written.remove());

const faultsOf = (toml: string): string => written.faultsOf(toml);

test.each([
  ['[feature]\nunified_exec = true', '"feature" (did you mean "features"?)'],
  [
    '[features]\nunifed_exec = true',
    '"features" has the unknown key "unifed_exec" (did you mean "unified_exec"?)',
  ],
  ['[features]\nunified_exec = "yes"', '"features.unified_exec" must be true or false, got a text'],
  ['[tools]\nmodules = "a.mjs"', '"tools.modules" must be a list, got a text'],
  ['[tools]\nmodules = [""]', '"tools.modules.0" must be a non-empty text'],
  [
    '[dialects]\ntool_tag = "x"',
    '"dialects" has the unknown key "tool_tag", allowed tool_tag_start, tool_tag_end',
  ],
  ['[prompts]\nfolders = "x"', '"prompts" has the unknown key "folders" (did you mean "folder"?)'],
  ['[fetch]\nallow_private = [1]', '"fetch.allow_private.0" must be a text, got a number'],
  [
    '[fetch]\nallow_private = ["a.b", "10.0.0.0/99"]',
    'holdfast.toml: "fetch.allow_private.1" must be a host name, or an address such as 10.1.2.3 or 10.0.0.0/8',
  ],
  ['[log]\nkeep = -1', '"log.keep" must be at least 0'],
  ['[webhooks.On-Call]\nurl = "https://x/"', '"webhooks.On-Call" must be named with 1 to 63 of a-z, 0-9,'],
  ['[mcp_servers.a]\ncomand = "x"', '"mcp_servers.a" has the unknown key "comand" (did you mean "command"?)'],
  [
    '[mcp_servers.a]\ncommand = "x"\nsomething_else = 1',
    'unknown key "something_else", allowed command, args',
  ],
  ['[mcp_servers.a]\nargs = []', '"mcp_servers.a" has neither, allowed one of "command" and "url"'],
  ['[mcp_servers.a]\ncommand = "x"\nurl = "http://x"', '"mcp_servers.a" has both, allowed one of'],
  [
    '[mcp_servers.a]\nurl = "http://x"\nargs = []',
    '"mcp_servers.a" has "args" beside "url", allowed beside "command"',
  ],
  ['[mcp_servers.a]\nurl = "ftp://x"', '"mcp_servers.a.url" must be an http or https URL'],
  [
    '[mcp_servers.a]\ncommand = "x"\ntool_timeout_sec = 0',
    '"mcp_servers.a.tool_timeout_sec" must be above 0',
  ],
  [
    '[mcp_servers.a]\ncommand = "x"\ntool_timeout_sec = 1e9',
    '"mcp_servers.a.tool_timeout_sec" must be at most 86400',
  ],
  [
    '[mcp_servers."a b"]\ncommand = "x"',
    '"mcp_servers.a b" must be named with only a-z, A-Z, 0-9, "_" and "-"',
  ],
  [`[mcp_servers.a]\ncommand = "x"\nenv = { K = 1 }`, '"mcp_servers.a.env.K" must be a text, got a number'],
  [
    '[model_providers.openai]\nbase_url = "http://x"',
    '"model_providers.openai" must be named with a-z, 0-9, "_" and "-" after a letter, and not scripted, openai,',
  ],
  [
    '[model_providers.My]\nbase_url = "http://x"',
    '"model_providers.My" must be named with a-z, 0-9, "_" and "-"',
  ],
  ['[model_providers.a]\nenv_key = "K"', '"model_providers.a.base_url" must be a text, got nothing'],
  [
    '[model_providers.a]\nbase_url = "http://x"\nwire_api = "soap"',
    '"model_providers.a.wire_api" must be one of "chat", "responses", "anthropic"',
  ],
  [
    '[model_providers.a]\nbase_url = "http://x"\nenv_key = "K"\nkey_file = "f"',
    '"model_providers.a" has both, allowed one of "env_key" and "key_file"',
  ],
  [
    '[model_providers.a]\nbase_url = "http://x"\nenv_kee = "K"',
    '"model_providers.a" has the unknown key "env_kee" (did you mean "env_key"?)',
  ],
  ['[models.openai]\nwindow = 1', '"models.openai" must be named as provider:name'],
  ['[models."a:b"]\nwindow = 1.5', '"models.a:b.window" must be a whole number'],
  ['[models."a:b"]\nwindw = 1', '"models.a:b" has the unknown key "windw" (did you mean "window"?)'],
  [
    '[models."a:b"]\nprices = { input = 1, output = 1, inptu = 1 }',
    '"models.a:b.prices" has the unknown key "inptu" (did you mean "input"?)',
  ],
  ['a = [', 'is not TOML'],
])('%j is refused with its location and what is allowed', (toml, fault) => {
  expect(faultsOf(toml)).toContain(fault);
});

test('all faults are reported at once', () => {
  const faults = faultsOf(
    '[features]\nunified_exec = 1\n[mcp_servers.a]\ncommand = 1\n[mcp_servers.b]\nurl = "http://x"\nfoo = 1',
  );
  expect(faults).toContain('"features.unified_exec"');
  expect(faults).toContain('"mcp_servers.a.command"');
  expect(faults).toContain('"mcp_servers.b" has the unknown key "foo"');
});

test.each([
  `[mcp_servers.a]\ncommand = "x"\nurl = "y"\nenv = { K = "${SECRET}" }`,
  `[mcp_servers.a]\nurl = "http://x"\nenv = { K = "${SECRET}" }\nheaders = { Authorization = 7 }`,
  `[mcp_servers.a]\nurl = "http://x"\nbearer_token = "${SECRET}"`,
  `[mcp_servers.a]\nenv = { K = "${SECRET}" `,
  `[mcp_servers.a.env]\nK = "${SECRET}" junk`,
  `[mcp_servers.a]\nheaders = ["${SECRET}"]`,
  `[model_providers.a]\nhttp_headers = { K = "${SECRET}" }`,
  `[model_providers.a]\nbase_url = "x"\nkey = "${SECRET}"`,
  `[model_providers.a]\nbase_url = "${SECRET}"`,
])('no fault of %j shows a value', (toml) => {
  expect(faultsOf(toml)).not.toContain(SECRET);
});
