import { until } from './until';

/** Does `work`, which prints an error with this text and nothing else; the test's own output stays clean. */
export async function printing<T>(text: string, work: () => Promise<T>): Promise<T> {
  const said: string[] = [];
  const spy = jest.spyOn(console, 'error').mockImplementation((...words) => void said.push(words.join(' ')));
  try {
    const result = await work();
    await until(() => said.length > 0);
    expect(said).toEqual([expect.stringContaining(text)]);
    return result;
  } finally {
    spy.mockRestore();
  }
}
