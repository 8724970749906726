# Process 1 of a container: runs its arguments, and takes the ends of processes whose parents are gone, as the kernel asks of
# process 1. A shell does that while it waits; Node waits only for what it has started.
exec 3<&0
"$@" <&3 3<&- &
child=$!
exec 3<&-
# At a terminal, Ctrl-C and Ctrl-\ reach the program, too.
[ -t 0 ] && trap : INT QUIT || {
  trap 'kill -s INT "$child"' INT
  trap 'kill -s QUIT "$child"' QUIT
}
for signal in TERM HUP USR1 USR2; do trap "kill -s $signal \"\$child\"" "$signal"; done
while :; do
  wait "$child"
  code=$?
  # A signal interrupts the wait.
  kill -0 "$child" 2>/dev/null || exit "$code"
done
