#!/usr/bin/env bash
# Runs browser tests of studio/, two files at a time, long ones first, and shows what
# node says of each file as it ends. A test waits for conditions, with a minute and more
# until it gives up: a slow machine makes it slow, not red.
#
#   tools/browser.sh [FILE…]      from studio/, default all: test/*.test.mjs
set -eu
cd "$(dirname "$0")/../studio"
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export logs
if [ $# = 0 ]; then set -- $(ls -S test/*.test.mjs); fi
export count=$#

one() { # file
	local log
	log=$logs/$(basename "$1")
	local result=0
	node --test --test-reporter=tap "$1" >"$log" 2>&1 || result=1
	echo >>"$logs/ended"
	echo "browser $(wc -l <"$logs/ended")/$count: $1"
	if [ $result = 0 ]; then
		grep -E '^ok|^# (first view|tests|pass|fail|duration)' "$log"
	else
		cat "$log"
	fi
	return $result
}
export -f one
result=0
printf '%s\n' "$@" | xargs -P 2 -I{} bash -c 'one {}' || result=1
cat "$logs"/*.mjs | awk '/^ok/ { ok++ } /^not ok/ { bad++ } END { printf "browser: %d passed, %d failed\n", ok, bad }'
exit $result
