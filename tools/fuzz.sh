#!/usr/bin/env bash
# Runs every fuzz target of the tree for a short while.
set -eu
duration=$1
count=0
for file in $(git ls-files -co --exclude-standard '*_test.go' | xargs grep -lE '^func Fuzz[A-Z]' | sort); do
	for target in $(grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | cut -c6-); do
		echo "fuzz: $(dirname "$file") $target $duration"
		log=$(mktemp)
		if ! go test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" -fuzzminimizetime 10x "./$(dirname "$file")" >"$log" 2>&1; then
			cat "$log"
			rm -f "$log"
			exit 1
		fi
		rm -f "$log"
		count=$((count + 1))
	done
done
echo "fuzz: $count targets, no finding"
