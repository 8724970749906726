import type { GlobalOptions } from '../context';
export async function demo(_options: GlobalOptions): Promise<number> { return 0; }
