#!/usr/bin/env bash
# Runs every fuzz target of the tree for a short while, of two packages at a time with one
# worker each. The test program of a package is built once for all its targets.
#
#   tools/fuzz.sh DURATION
set -eu
export duration=$1
export logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export go=${GO:-go}
export corpus=$("$go" env GOCACHE)/fuzz

# The fuzzing engine now and then reports the end of its own time as a failure
# ("context deadline exceeded", golang/go#75804) although no input failed. A
# finding always names its input; a failure without one is tried again.
fuzz() { # package, target, program, log
	for attempt in 1 2 3; do
		(cd "$1" && GOMAXPROCS=1 "$3" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$duration" -test.fuzzminimizetime 10x \
			-test.fuzzcachedir "$corpus/poise/$1" -test.parallel 1 -test.timeout 0) >"$4" 2>&1 && return 0
		grep -q '^ *context deadline exceeded$' "$4" && ! grep -qE 'Failing input written|panic:|_test\.go:' "$4" || return 1
		echo "fuzz: $1 $2 ran out of time without a finding (attempt $attempt)"
	done
	return 1
}

package() { # folder
	local program=$logs/$(echo "$1" | tr / -).test log=$logs/$(echo "$1" | tr / -).log
	if ! "$go" test -c -vet=off -fuzz=Fuzz -o "$program" "./$1" >"$log" 2>&1; then
		cat "$log"
		return 255 # xargs starts no other
	fi
	for target in $(grep -ohE '^func Fuzz[A-Za-z0-9_]+' "$1"/*_test.go | cut -c6-); do
		echo "fuzz: $1 $target $duration"
		fuzz "$1" "$target" "$program" "$log" || { cat "$log"; return 255; }
		echo >>"$logs/count"
	done
	rm -f "$program"
}
export -f fuzz package
git ls-files -co --exclude-standard '*_test.go' | xargs grep -lE '^func Fuzz[A-Z]' | xargs -n 1 dirname | sort -u |
	xargs -P 2 -I{} bash -c 'package {}'
echo "fuzz: $(wc -l <"$logs/count") targets, no finding"
