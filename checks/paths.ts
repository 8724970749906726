// Which paths matter: the system's folders, homes, disks, and files that hold keys.
import picomatch from 'picomatch';
import { BELOW, HOME, UNKNOWN, unquoted } from './text';

const setOf = (paths: string): Set<string> => new Set(paths.split(' '));

const SYSTEM = setOf(
  '/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys ' +
    '/usr /var /usr/bin /usr/sbin /usr/lib /usr/lib64 /usr/libexec /usr/local /usr/local/bin ' +
    '/usr/local/lib /usr/share /usr/include /var/lib /var/lib/dpkg /var/spool /etc/ssh /etc/ssl ' +
    '/etc/systemd /etc/pam.d /boot/efi /Applications /Library /System /Users /Volumes /private ' +
    '/private/etc /private/var',
);
/** People change the owner of these when they set up a machine. */
const FOR_OWNERS = setOf('/home /media /mnt /opt /srv /usr/local /usr/local/bin /usr/local/lib');
/** Without one of these logging in fails, or nothing starts. */
const CRITICAL = setOf(
  '/etc/passwd /etc/shadow /etc/group /etc/gshadow /etc/sudoers /etc/fstab /etc/hosts ' +
    '/etc/ssh/sshd_config /etc/ld.so.preload /proc/sysrq-trigger /boot/vmlinuz /bin/sh /bin/bash ' +
    '/usr/bin/bash /sbin/init /etc/resolv.conf',
);
const DISK =
  /^\/dev\/(?:[hsv]d[a-z*?\uE000]|xvd[a-z]|nvme\d|mmcblk\d|r?disk\d|md\d|dm-\d|mapper\/|disk\/|sg\d|mem$|kmem$|port$|\[?[hsv]d)/;
const KEY_FOLDERS = setOf('~/.ssh ~/.aws ~/.gnupg ~/.kube ~/.docker ~/.azure ~/.config/gcloud ~/.config/gh');
const SECRET_FILES = setOf(
  '~/.aws/credentials ~/.netrc ~/.pgpass ~/.docker/config.json ~/.kube/config ~/.npmrc ~/.pypirc ' +
    '~/.git-credentials ~/.bash_history ~/.zsh_history ~/.config/gh/hosts.yml ~/.vault-token ~/.my.cnf ' +
    '/etc/shadow /etc/gshadow /etc/passwd /etc/master.passwd /etc/sudoers',
);
const HARMLESS_IN_SSH = /\.pub$|\/(?:known_hosts|config|authorized_keys)$/;
const SECRET_NAME =
  /^(?:id_(?:rsa|dsa|ecdsa|ed25519)|\.env|\.env\.(?!example$|sample$|template$|dist$)[\w.-]+|wallet\.dat)$/;

/**
 * A path with `~` for the home folder and without `.`, `..` and doubled slashes. Relative paths are resolved against
 * `cwd`, and stay relative if it is unknown.
 */
export function resolvePath(text: string, cwd: string | null): string {
  let path = text;
  if (path.startsWith(HOME)) path = `~${path.slice(1)}`;
  else if (!path.startsWith('/')) {
    if (cwd === null || path.startsWith(UNKNOWN)) return path.replace(/^(?:\.\/+)+/, '');
    path = `${cwd.replace(HOME, '~')}/${path}`;
  }
  const fromHome = path.startsWith('~');
  const parts: string[] = fromHome ? ['', 'home', '\uE000~'] : [''];
  for (const part of (fromHome
    ? path.slice(path.indexOf('/') === -1 ? path.length : path.indexOf('/'))
    : path
  ).split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.length = Math.max(1, parts.length - 1);
    else parts.push(part);
  }
  const whole = parts.join('/') || '/';
  return whole.replace(/^\/home\/\uE000~/, '~');
}

/** Replaces every home folder on this machine with `~`. */
const fromHomes = (path: string): string =>
  path.replace(/^(?:\/root|\/home\/[^/]+|\/Users\/[^/]+)(?=\/|$)/, '~');

/** Whether removing or changing everything there would be ruinous: the folder itself, or everything in it. */
export function isVital(path: string): boolean {
  const below = path.indexOf(BELOW);
  const whole = below >= 0 ? path.slice(0, below).replace(/(?<=.)\/$/, '') : path;
  let target = fromHomes(whole);
  if (!/^[/~]/.test(target)) return false;
  if (isVitalFolder(target)) return true;
  const pattern = target;
  while (target.length > 1 && isWide(target.slice(target.lastIndexOf('/') + 1))) {
    target = target.slice(0, Math.max(0, target.lastIndexOf('/'))) || '/';
    if (isVitalFolder(target)) return true;
  }
  // A pattern that matches one of them, such as /b*.
  const isShort = /[*?[]/.test(pattern) && pattern.length <= 32;
  return isShort && [...SYSTEM].some((folder) => picomatch.isMatch(folder, pattern));
}

const isVitalFolder = (path: string): boolean =>
  SYSTEM.has(path) || path === '~' || path === '~/.ssh' || path === '~/.gnupg';

/** Everything, or everything that begins with a dot. */
const isWide = (name: string): boolean => /^(?:\.?[*?]+|\.\[[^\]]*\]\*?|\[[^\]]*\]\*|\.\.?\*)$/.test(name);

/** Folders whose owner `chown -R` may change without harm. */
export const isForOwners = (path: string): boolean =>
  FOR_OWNERS.has(path.replace(/\/\*$/, '')) || fromHomes(path).startsWith('~');

/** A device file of a disk or of the memory. */
export const isDisk = (path: string): boolean => DISK.test(path);

/** A file whose loss or overwriting would disable the machine. */
export const isCritical = (path: string): boolean => CRITICAL.has(path) || path.startsWith('/dev/mem');

/** A file, or a folder of such files, that holds keys or passwords. */
export function isSecretPath(text: string): boolean {
  const path = fromHomes(unquoted(text)).replace(/\/$/, '');
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (SECRET_FILES.has(path) || SECRET_NAME.test(name)) return true;
  if (
    /^\/proc\/[^/]+\/environ$/.test(path) ||
    path.startsWith('/var/run/secrets/') ||
    path.startsWith('/run/secrets/')
  )
    return true;
  if (KEY_FOLDERS.has(path.replace(/\/[*.?]*$/, ''))) return true;
  return /^~\/\.(?:ssh|gnupg)\//.test(path) && !HARMLESS_IN_SSH.test(path);
}

/** A file for people to copy and fill in, or to read. */
export const isTemplateFile = (path: string): boolean =>
  /(?:^|\/)README[^/]*$|\.(?:example|sample|template|dist)(?:\.\w+)?$/i.test(path);

/** For people. */
export const shown = (path: string): string => unquoted(path).replaceAll(BELOW, '…');
