// `holdfast completion`: the scripts in the shells that they are for.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../../../cli/program';
import { packageRoot } from '../../../system/package-root';
import { pathOf, testWith } from '../../helpers/run/programs';

const BIN = join(packageRoot(), 'bin', 'holdfast.js');
const folder = mkdtempSync(join(tmpdir(), 'holdfast-completion-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function scriptFor(shell: string): string {
  const path = join(folder, shell);
  writeFileSync(path, execFileSync(process.execPath, [BIN, 'completion', shell], { encoding: 'utf8' }));
  return path;
}

/** What is offered for the last of these words. */
type Offered = (...words: string[]) => string[];

function completes(offered: Offered): void {
  expect(offered('re')).toEqual(expect.arrayContaining(['recover', 'reset', 'rewind']));
  expect(offered('re')).not.toContain('run');
  expect(offered('rewind', '--d')).toEqual(expect.arrayContaining(['--dry-run', '--data']));
  expect(offered('host', 's').sort()).toEqual(['serve', 'show']);
  expect(offered('host', 'serve', 'laptop', '--ac')).toEqual(['--access']);
  expect(offered('host', 'serve', 'laptop', '--ad')).toEqual(['--address']);
  expect(offered('serve', '--d')).not.toContain('--detached');
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

test('in bash, commands, those below them and their options are completed', () => {
  const script = scriptFor('bash');
  completes((...words) => {
    const typed = ['holdfast', ...words].map((word) => `'${word}'`).join(' ');
    const code = `source ${script}; COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return linesOf(execFileSync('bash', ['--norc', '-c', code], { encoding: 'utf8' }));
  });
});

testWith('zsh')('in zsh, commands, those below them and their options are completed', () => {
  const script = scriptFor('zsh');
  completes((...words) => {
    const typed = ['holdfast', ...words].map((word) => `'${word}'`).join(' ');
    // As the completion system does: it keeps those that begin like the word.
    const stubs = `compdef() { : }; _describe() { print -l -- \${\${(P)2}%%:*} }; words=(${typed}); CURRENT=${words.length + 1}`;
    const code = `${stubs}; source ${script}; _holdfast`;
    const offered = linesOf(execFileSync(pathOf('zsh'), ['-f', '-c', code], { encoding: 'utf8' }));
    return offered.filter((word) => word.startsWith(words.at(-1) ?? ''));
  });
});

testWith('fish')('in fish, commands, those below them and their options are completed', () => {
  const script = scriptFor('fish');
  completes((...words) => {
    const code = `source ${script}; complete -C 'holdfast ${words.join(' ')}'`;
    const offered = execFileSync(pathOf('fish'), ['--no-config', '-c', code], {
      encoding: 'utf8',
      cwd: folder,
      env: { ...process.env, HOME: folder },
    });
    return linesOf(offered).map((line) => line.split('\t')[0] ?? '');
  });
});

test('another shell is refused with those that are allowed', () => {
  expect(() => execFileSync(process.execPath, [BIN, 'completion', 'csh'], { stdio: 'pipe' })).toThrow(
    /got csh, allowed bash, zsh, fish/,
  );
});

test('each command has an example, and its own options stand before those of all', async () => {
  const { commands } = await program();
  expect(commands.length).toBeGreaterThan(35);
  for (const command of commands) {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    expect(help).toContain('Examples:\n  ');
    expect(help).toMatch(/^Global options:\n(?: {2}.*\n)* {2}--json /m);
  }
});
