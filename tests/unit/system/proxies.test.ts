import { describedProxies, proxyFor } from '../../../system/http/proxies';

const PROXY = 'http://proxy.example:3128';

test.each([
  ['https://a.example/', { HTTPS_PROXY: PROXY }, true],
  ['https://a.example/', { https_proxy: 'proxy.example:3128' }, true],
  ['https://a.example/', { HTTP_PROXY: PROXY }, false],
  ['http://a.example/', { HTTP_PROXY: PROXY, HTTPS_PROXY: 'http://other' }, true],
  ['https://a.example/', { HTTPS_PROXY: PROXY, https_proxy: '' }, false],
  ['ftp://a.example/', { HTTPS_PROXY: PROXY }, false],
  ['https://localhost:8443/', { HTTPS_PROXY: PROXY }, false],
  ['http://127.0.0.2/', { HTTP_PROXY: PROXY }, false],
  ['http://[::1]/', { HTTP_PROXY: PROXY }, false],
  ['https://a.example/', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example' }, false],
  ['https://b.a.example/', { HTTPS_PROXY: PROXY, no_proxy: 'x, .a.example' }, false],
  ['https://b.a.example/', { HTTPS_PROXY: PROXY, NO_PROXY: '*.a.example' }, false],
  ['https://ba.example/', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example' }, true],
  ['https://a.example/', { HTTPS_PROXY: PROXY, NO_PROXY: '*' }, false],
  ['https://a.example:8443/', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example:443' }, true],
  ['https://a.example/', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example:443' }, false],
  ['http://10.2.3.4/', { HTTP_PROXY: PROXY, NO_PROXY: '10.0.0.0/8' }, false],
  ['http://11.2.3.4/', { HTTP_PROXY: PROXY, NO_PROXY: '10.0.0.0/8 10.0.0.0/99' }, true],
  ['http://[fd00::1]:80/', { HTTP_PROXY: PROXY, NO_PROXY: 'fd00::/8' }, false],
])('%s with %j goes through it: %s', (url, env, isProxied) => {
  expect(proxyFor(new URL(url), env)?.href).toBe(isProxied ? `${PROXY}/` : undefined);
});

test('what is told of proxies has no password, and names those that cannot be used', () => {
  const env = {
    HTTPS_PROXY: 'http://me:secret@proxy.example',
    http_proxy: 'socks5://a:b@c:1',
    NO_PROXY: '.lan',
  };
  expect(describedProxies(env)).toEqual({
    text: 'HTTPS_PROXY=http://***@proxy.example, HTTP_PROXY=socks5://***@c:1, NO_PROXY=.lan',
    faults: ['HTTP_PROXY'],
  });
  expect(describedProxies({ NO_PROXY: '*' })).toBeUndefined();
});
