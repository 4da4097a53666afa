#!/bin/sh
# Run a silent command, and say every ten seconds that it still runs.
#   sh envs/shown.sh WORDS COMMAND [ARGUMENT...]
words=$1
shift
echo "$words" >&2
"$@" &
command=$!
trap 'kill "$command" 2>/dev/null; exit 130' INT TERM
(
    seconds=0
    while sleep 10 >/dev/null 2>&1; do # holds no pipe open
        seconds=$((seconds + 10))
        echo "  $words: $seconds s so far" >&2
    done
) &
clock=$!
wait "$command"
status=$?
kill "$clock" 2>/dev/null
exit "$status"
