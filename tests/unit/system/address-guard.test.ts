// Which addresses are refused beside those that no host may have in public (those: tests/unit/tools/fetch-tool.test.ts).
import { createAddressGuard } from '../../../system/address-guard';

const OWN = '93.184.216.34';
const url = new URL(`http://${OWN}`);
const codeOf = (work: () => void): string | undefined => {
  try {
    work();
    return undefined;
  } catch (err) {
    return (err as { code: string }).code;
  }
};

test('a public address that is this machine’s own is refused, unless it is opened by name', () => {
  const guard = (own: string[], allowPrivate: string[] = []): ReturnType<typeof createAddressGuard> =>
    createAddressGuard({ own: () => own, allowPrivate });
  expect(codeOf(() => guard([OWN]).checkHost(url))).toBe('address_refused');
  expect(codeOf(() => guard([]).checkHost(url))).toBeUndefined();
  expect(codeOf(() => guard([OWN], [OWN]).checkHost(url))).toBeUndefined();
});
