#!/usr/bin/env bash
# Counts the comparisons with reference results, as the tests logged them.
set -eu
log=$1
count() { if [ -f "$log" ]; then grep -c "^$1 " "$log" || true; else echo 0; fi; }
run=$(count run)
skipped=$(count skip)
echo "golden: $run run, $skipped skipped"
if [ "${CI:-}" = true ] && { [ "$skipped" != 0 ] || [ "$run" = 0 ]; }; then
	echo "golden: CI=true allows no skip and wants at least one run" >&2
	exit 1
fi
