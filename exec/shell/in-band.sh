# Evaluated by a shell that only the terminal reaches, to let it call tools. The holder types it, with echo off; each
# line is shorter than a terminal's limit.
if command -v python3 >/dev/null; then
[ -d "${HOLDFAST_IN_BAND-}" ] || HOLDFAST_IN_BAND=$(mktemp -d "${TMPDIR:-/tmp}/holdfast.XXXXXX")
export HOLDFAST_IN_BAND
printf %s '@MODULE@' | python3 -c 'import base64, sys, zlib; sys.stdout.write(zlib.decompress(base64.b64decode(sys.stdin.read())).decode())' >"$HOLDFAST_IN_BAND/codex_tools.py"
case ":${PYTHONPATH-}:" in
*":$HOLDFAST_IN_BAND:"*) ;;
*) export PYTHONPATH="$HOLDFAST_IN_BAND${PYTHONPATH:+:$PYTHONPATH}" ;;
esac
tool() { python3 "$HOLDFAST_IN_BAND/codex_tools.py" "$@"; }
printf %s '@TICKET@' | python3 "$HOLDFAST_IN_BAND/codex_tools.py" --connect
else
echo 'holdfast: calling tools needs python3 on this machine.' >&2
fi
