#!/usr/bin/env bash
# Lists the packages, tests included, in which several goroutines meet: there the race
# detector has something to find. The others it only makes ten times slower.
set -eu
go list -f '{{.ImportPath}} {{.Dir}}' ./... | while read -r package folder; do
	if grep -qE '^[^/]*(\bgo func|\bgo [a-z][A-Za-z.]*\(|\bsync\.|\batomic\.|\.Go\(func)' "$folder"/*.go; then
		echo "$package"
	fi
done
