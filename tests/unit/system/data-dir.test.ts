import { defaultCacheDir, defaultDataDir } from '../../../system/data-dir';

test.each([
  [{ HOLDFAST_DATA: '/d', XDG_STATE_HOME: '/s', HOME: '/h' }, '/d'],
  [{ XDG_STATE_HOME: '/s', HOME: '/h' }, '/s/holdfast'],
  [{ XDG_STATE_HOME: 'relative', HOME: '/h' }, '/h/.local/state/holdfast'],
  [{ HOME: '/h' }, '/h/.local/state/holdfast'],
])('with %j the data folder is %s', (env, expected) => {
  expect(defaultDataDir(env)).toBe(expected);
});

test.each([
  [{ XDG_CACHE_HOME: '/c', HOME: '/h' }, '/c/holdfast'],
  [{ XDG_CACHE_HOME: 'relative', HOME: '/h' }, '/h/.cache/holdfast'],
  [{ HOME: '/h' }, '/h/.cache/holdfast'],
])('with %j the cache folder is %s', (env, expected) => {
  expect(defaultCacheDir(env)).toBe(expected);
});
