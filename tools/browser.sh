#!/usr/bin/env bash
# Runs the browser tests, two files at a time, long ones first. A file that fails is run
# once more, since a machine that is busy with other things can make a browser wait for
# longer than any patience; it has to pass then.
set -eu
cd "$(dirname "$0")/../studio"
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export logs

run() { # file
	node --test "$1" >"$logs/$(basename "$1")" 2>&1
}
once() {
	run "$1" || { echo "browser: $1 once more" && grep '^not ok' "$logs/$(basename "$1")"; run "$1"; }
}
export -f run once
result=0
ls -S test/*.test.mjs | xargs -P 2 -I{} bash -c 'once {}' || result=1
grep -hE '^(not )?ok|^# first view' "$logs"/*
if [ $result -ne 0 ]; then
	for log in "$logs"/*; do
		if grep -q '^not ok' "$log"; then cat "$log"; fi
	done
fi
cat "$logs"/* | awk '/^ok/ { ok++ } /^not ok/ { bad++ } END { printf "browser: %d passed, %d failed\n", ok, bad }'
exit $result
