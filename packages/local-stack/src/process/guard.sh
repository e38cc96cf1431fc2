#!/bin/sh
# guard.sh GRACE_SECONDS COMMAND [ARGUMENT...]
#
# Runs COMMAND and ends it when this script's standard input closes: that happens when the process that holds the other end
# goes, a SIGKILL included, so nothing outlives its parent. First SIGTERM, then after GRACE_SECONDS SIGKILL, which also ends
# a command that hangs (SIGSTOP). Writes the command's process id to descriptor 3 and exits with the command's code.
grace=$1
shift
exec 4<&0
"$@" </dev/null 3>&- 4<&- &
child=$!
echo "$child" >&3
exec 3>&-
(
  # The shell's own read, not a cat: there is then nobody else to end.
  while read -r _ <&4; do :; done
  kill -TERM "$child"
  left=$((grace * 10))
  while [ "$left" -gt 0 ]; do
    sleep 0.1
    left=$((left - 1))
  done
  kill -KILL "$child"
) >/dev/null 2>&1 &
watcher=$!
wait "$child"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
