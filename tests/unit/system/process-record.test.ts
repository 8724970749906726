import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeJson } from '../../../system/json-file';
import { identityOf, isAlive, type Identity } from '../../../system/processes/process-identity';
import { readProcessRecord, writeProcessRecord } from '../../../system/processes/process-record';

interface Record {
  identity: Identity;
  helpers: Identity[];
  address: string;
}

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'holdfast-records-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const self = identityOf(process.pid);
const RECORD: Record = { identity: self, helpers: [self], address: 'a:1' };
const inFolder = (name: string): string => join(directory, name, 'record.json');

function written(write = writeProcessRecord): void {
  mkdirSync(join(directory, 'original'));
  write(inFolder('original'), RECORD);
}
const read = (name: string): Record => {
  const record = readProcessRecord<Record>(inFolder(name));
  if (!record) throw new Error('no record');
  return record;
};
const copy = (from: string, to: string): void =>
  cpSync(join(directory, from), join(directory, to), { recursive: true, preserveTimestamps: true });

test('a record is read as it was written', () => {
  written();
  expect(read('original')).toEqual(RECORD);
});

test('in a copy of the folder no process of the record is alive, and the rest is as it was', () => {
  written();
  copy('original', 'copied');
  const { identity, helpers, address } = read('copied');
  expect([identity, ...helpers].map(isAlive)).toEqual([false, false]);
  expect([identity.pid, address]).toEqual([process.pid, 'a:1']);
  expect(isAlive(read('original').identity)).toBe(true);
});

test('a copy of a copy, and a record that was written anew in the copy, belong to the folder that wrote them', () => {
  written();
  copy('original', 'copied');
  writeProcessRecord(inFolder('copied'), read('original'));
  expect(isAlive(read('copied').identity)).toBe(true);
  copy('copied', 'again');
  expect(isAlive(read('again').identity)).toBe(false);
});

test('a folder that was moved still owns its processes', () => {
  written();
  renameSync(join(directory, 'original'), join(directory, 'moved'));
  expect(read('moved')).toEqual(RECORD);
});

test('a folder that its file system numbers anew still owns its processes', () => {
  written();
  const file = inFolder('original');
  const { writtenIn, ...record } = JSON.parse(readFileSync(file, 'utf8')) as { writtenIn: object };
  writeJson(file, { ...record, writtenIn: { ...writtenIn, number: '1:1' } });
  expect(read('original')).toEqual(RECORD);
});

test('a record that does not say where it was written is taken as it is', () => {
  written(writeJson);
  copy('original', 'copied');
  expect(read('copied')).toEqual(RECORD);
});
