// Which hosts a sandbox may reach, judged by names and ports.
import { NamedHosts } from '../../../../exec/sandbox/named-hosts';

const hosts = new NamedHosts([
  'pypi.org',
  '*.Example.org',
  'registry.internal:8443',
  '10.0.0.5:80',
  '10.0.0.6',
  '[fd00:0::1]:443',
  '10.8:81',
]);
const refusal = (url: string): string | undefined => hosts.refusal(new URL(url));

test.each([
  'http://pypi.org',
  'https://pypi.org/simple/',
  'http://pypi.org:443',
  'https://PyPI.org.',
  'https://a.example.org',
  'https://a.b.example.org',
  'https://registry.internal:8443',
  // What names its port may lie in the host's own network.
  'http://10.0.0.5',
  // As programs write it, too: 10.0.0.5.
  'http://0xa.5',
  'https://[fd00::1]',
  'http://10.0.0.8:81',
])('%s is named', (url) => {
  expect(refusal(url)).toBeUndefined();
});

test.each([
  ['another port of a host that is named', 'http://pypi.org:8080'],
  ['the port of another protocol', 'http://pypi.org:22'],
  ['a host below one that is named', 'https://files.pypi.org'],
  ['a host whose name ends in the same letters', 'https://notpypi.org'],
  ['a host that begins as one that is named', 'https://pypi.org.evil.net'],
  ['the domain of names below it', 'https://example.org'],
  ['a name that ends as they do', 'https://badexample.org'],
  ['the usual ports of one that names its own', 'https://registry.internal'],
  ['another address', 'http://10.0.0.7'],
  ['this machine', 'http://127.0.0.1'],
])('%s is not named', (_what, url) => {
  expect(refusal(url)).toMatch(/ is not among the hosts of this sandbox \(pypi.org, \*\.Example\.org, /);
});

test('an address of the own network named without its port is refused with what would allow it', () => {
  expect(refusal('http://10.0.0.6')).toMatch(
    /^http:\/\/10\.0\.0\.6\/ is private: to allow such a host, name it with its port$/,
  );
});

test('a name that resolves to this machine fails at the connection if it is named without its port', async () => {
  const resolved = (named: string, url: URL): Promise<unknown> =>
    new Promise((resolve, reject) =>
      new NamedHosts([named]).lookupFor(url)(url.hostname, {}, (err, address) =>
        err ? reject(err) : resolve(address),
      ),
    );
  await expect(resolved('localhost', new URL('http://localhost'))).rejects.toMatchObject({
    code: 'address_refused',
  });
  expect(await resolved('localhost:80', new URL('http://localhost'))).toMatch(/^(127\.0\.0\.1|::1)$/);
});
