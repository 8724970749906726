#!/bin/sh
# Calls an agent's tool: tool NAME --argument value. See tool --help.
case $0 in
  */*) folder=${0%/*} ;;
  *) folder=. ;;
esac
main=$folder/../node/codex-tools/tool-command.cjs
# Called through a link in another folder.
[ -e "$main" ] || main=$HOLDFAST_TOOLS/node/codex-tools/tool-command.cjs
# They belong to the programs of the session and could break this one.
unset NODE_OPTIONS
exec @NODE@ "$main" "$@"
