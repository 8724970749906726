# The terminal's first process, above the shell: reports the shell's end through the private channel and then stays, so
# that the terminal (and the output of background jobs) outlives the shell. Arguments: the directory of this epoch, then
# the shell's command line.
dir=$1
shift
# The holder may be gone already, and with it who would end this process: what is reported would never be read.
[ -t 0 ] || exit 71
read -r fence <"$dir/fence"
"$@"
code=$?
printf '%s' "$fence"
printf 'X %s\n' "$code" >"$dir/up"
# Blocks until the holder ends the epoch by killing it: nothing is ever written to this channel.
read -r _ <"$dir/hold"
