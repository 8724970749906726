#!/usr/bin/env bash
# Makes docs/attach.md: two people at one session, in tmux, screen by screen. Run after a change of `attach`.
set -euo pipefail
cd "$(dirname "$0")/.."
HOLDFAST_DATA=$(mktemp -d)
export HOLDFAST_DATA PATH="$PWD/node_modules/.bin:$PATH" NO_COLOR=1
folder=$(mktemp -d)
out=docs/attach.md
tmux="tmux -L holdfast-record"
cleanup() {
  $tmux kill-server 2>/dev/null || true
  node bin/holdfast.js down --sessions >/dev/null 2>&1 || true
  rm -rf "$HOLDFAST_DATA" "$folder"
}
trap cleanup EXIT
node bin/holdfast.js up >/dev/null 2>&1

until_seen() { # person, text
  for _ in $(seq 200); do
    $tmux capture-pane -p -t "$1" | grep -qF -- "$2" && return
    sleep 0.1
  done
  echo "never seen by $1: $2" >&2
  exit 1
}
screen() { # title, person
  printf '%s\n\n```\n' "$1" >>"$out"
  $tmux capture-pane -p -t "$2" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >>"$out"
  printf '```\n\n' >>"$out"
}
person() { $tmux new-session -d -s "$1" -x 78 -y 14 "env PS1='$1\$ ' bash --norc --noprofile"; }
types() { $tmux send-keys -t "$1" "${@:2}"; }

printf '%s\n\n%s\n\n' '# What `attach` looks like' \
  'Recorded by `scripts/record-attach.sh` in tmux, with two people at one session.' >"$out"
person ann
person bob
types ann "cd $PWD && clear && alias holdfast='node bin/holdfast.js'" Enter
types bob "cd $PWD && clear && alias holdfast='node bin/holdfast.js'" Enter
types ann "clear; holdfast attach --run 'cd $folder; python3 -q'" Enter
until_seen ann '>>>'
types ann '6 * 7' Enter
until_seen ann 42
screen 'Ann runs a program and attaches to its terminal.' ann
types bob 'clear; holdfast attach' Enter
until_seen bob 'typist_busy'
types bob 'clear; holdfast attach --watch' Enter
until_seen bob 'attached to watch'
types ann 'import getpass; len(getpass.getpass())' Enter
until_seen ann 'Password:'
types ann 'correct horse' Enter
until_seen bob 13
screen 'Bob cannot type while she does, but he can watch. Her password is neither shown to anyone nor recorded.' bob
types bob C-]
until_seen bob 'detached'
types bob 'clear; holdfast attach --take' Enter
until_seen bob 'attached;'
types bob 'print("now it is me")' Enter
until_seen ann 'now it is me'
screen 'Bob takes over the keyboard; Ann is told, and watches.' ann
types bob C-]
until_seen bob 'detached'
types bob 'clear; holdfast tree' Enter
until_seen bob 'session local/0'
screen 'Bob leaves with ctrl-], and the program keeps running.' bob
sed -i -e "s#$folder#/tmp/work#g" -e "s#$PWD#.#g" "$out"
