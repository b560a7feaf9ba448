#!/bin/bash
# A fleet by plain ssh: starts the same run on every box, and waits for all of them. Each box has millrace in its PATH.
#   MILLRACE_CONTROL=redis://control:6379 REDIS_PASSWORD=... \
#     ./ssh.sh spring-test 'box1 box2 box3' --cluster --host target -q 3000000 -t 3 --duration 10m
# The log of each box is in RUN-BOX.log. Secrets go over standard input, so no list of processes shows them. Ctrl-C
# stops all boxes; the exit code is the first that is not 0.
set -uo pipefail
[ $# -ge 2 ] || { echo "usage: $0 RUN 'BOX...' [options of millrace write]" >&2; exit 2; }
: "${MILLRACE_CONTROL:?says where the boxes meet}"
run=$1 boxes=$2
shift 2

# The remote shell splits what it gets: each word is quoted for it.
words=$(printf ' %q' "$@" --run "$run")
remote="IFS= read -r MILLRACE_CONTROL && IFS= read -r REDIS_PASSWORD && export MILLRACE_CONTROL REDIS_PASSWORD"
remote="$remote && exec millrace write$words"

pids=()
for box in $boxes; do
  printf '%s\n%s\n' "$MILLRACE_CONTROL" "${REDIS_PASSWORD:-}" |
    ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 "$box" "bash -c $(printf %q "$remote")" >"$run-$box.log" 2>&1 &
  pids+=($!)
done
trap 'millrace fleet stop "$run" --control "$MILLRACE_CONTROL"' INT TERM

code=0
for at in "${!pids[@]}"; do
  wait "${pids[at]}"
  own=$?
  # A signal interrupts the wait, not the box.
  while kill -0 "${pids[at]}" 2>/dev/null; do wait "${pids[at]}"; own=$?; done
  [ $own = 0 ] || [ $code != 0 ] || code=$own
done
exit $code
