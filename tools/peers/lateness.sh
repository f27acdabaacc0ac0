#!/bin/sh
# Lateness of a 1 kHz loop: Poise's runner beside the same loop in C, idle and
# under load (four programs that burn the processor), one after the other on the
# same machine. Figures in microseconds, one JSON object a line. Needs a C
# compiler; real time needs the permission for SCHED_FIFO.
#
#   tools/peers/lateness.sh [SECONDS] [PRIORITY]
set -eu
seconds=${1:-60}
priority=${2:-80}
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
burners=""
finish() {
	for p in $burners; do kill "$p" 2>/dev/null || true; done
	rm -rf "$out"
}
trap finish EXIT INT TERM

cc -O2 -Wall -o "$out/c" tools/peers/lateness.c
go build -o "$out/go" ./tools/peers/lateness

for load in idle burners; do
	if [ "$load" = burners ]; then
		for _ in 1 2 3 4; do
			sh -c 'while :; do :; done' &
			burners="$burners $!"
		done
	fi
	echo "# $load, no real time"
	"$out/go" -seconds "$seconds"
	"$out/c" "$seconds" 25 0
	echo "# $load, SCHED_FIFO $priority"
	"$out/go" -seconds "$seconds" -priority "$priority"
	"$out/c" "$seconds" 25 "$priority"
done
