#!/usr/bin/env bash
# Runs make test over and over with all cores kept busy by other work, and stops at the
# first pass that fails: tests must not depend on the speed of the machine.
#
#   tools/passes.sh [PASSES [BURNERS]]      default 10 and one for each core; 0 burners where other work keeps the machine busy
set -u
passes=${1:-10}
burners=${2:-$(nproc)}
pids=()
for _ in $(seq "$burners"); do
	while :; do :; done &
	pids+=($!)
done
trap '[ ${#pids[@]} = 0 ] || kill "${pids[@]}"' EXIT
logs=.tools/passes
mkdir -p "$logs"
for n in $(seq "$passes"); do
	if ! "${MAKE:-make}" --no-print-directory test >"$logs/$n.log" 2>&1; then
		echo "pass $n of $passes failed, load $(cut -d' ' -f1 /proc/loadavg): $logs/$n.log"
		grep -E '^(--- FAIL|FAIL|panic:|not ok)' "$logs/$n.log" | head -20
		exit 1
	fi
	echo "pass $n of $passes, load $(cut -d' ' -f1 /proc/loadavg): $(tail -1 "$logs/$n.log")"
done
