import { PYTHON_PACKAGES, packageOf } from '../../../../contracts/tools/package-names';

test.each([
  ['PIL', 'Pillow'],
  ['PIL.Image', 'Pillow'],
  ['cv2', 'opencv-python'],
  ['yaml', 'PyYAML'],
  ['sklearn.linear_model', 'scikit-learn'],
  ['google.protobuf.message', 'protobuf'],
  ['google.cloud.storage', 'google-cloud-storage'],
  ['requests', 'requests'],
  ['constructor', 'constructor'],
])('the module %s of Python comes with %s', (module, name) => {
  expect(packageOf(module, 'python')).toBe(name);
});

test.each([
  ['lodash', 'lodash'],
  ['lodash/fp', 'lodash'],
  ['@scope/name/part', '@scope/name'],
])('the module %s of Node comes with %s', (module, name) => {
  expect(packageOf(module, 'nodejs')).toBe(name);
});

test('the map has at least 60 modules, and only those with another name', () => {
  const entries = Object.entries(PYTHON_PACKAGES);
  expect(entries.length).toBeGreaterThanOrEqual(60);
  for (const [module, name] of entries) {
    expect(name).not.toBe(module);
    expect(name).toMatch(/^[A-Za-z0-9][\w.-]*$/);
  }
});
