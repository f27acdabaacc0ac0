#!/usr/bin/env bash
# Runs every fuzz target of the tree for a short while.
set -eu
duration=$1
count=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The fuzzing engine now and then reports the end of its own time as a failure
# ("context deadline exceeded", golang/go#75804) although no input failed. A
# finding always names its input; a failure without one is tried again.
fuzz() { # package, target
	for attempt in 1 2 3; do
		go test -run '^$' -fuzz "^$2\$" -fuzztime "$duration" -fuzzminimizetime 10x "$1" >"$log" 2>&1 && return 0
		grep -q '^ *context deadline exceeded$' "$log" && ! grep -qE 'Failing input written|panic:|_test\.go:' "$log" || return 1
		echo "fuzz: $1 $2 ran out of time without a finding (attempt $attempt)"
	done
	return 1
}

for file in $(git ls-files -co --exclude-standard '*_test.go' | xargs grep -lE '^func Fuzz[A-Z]' | sort); do
	for target in $(grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | cut -c6-); do
		echo "fuzz: $(dirname "$file") $target $duration"
		fuzz "./$(dirname "$file")" "$target" || { cat "$log"; exit 1; }
		count=$((count + 1))
	done
done
echo "fuzz: $count targets, no finding"
