#!/usr/bin/env bash
# Runs targets of the Makefile one after the other, and says which, how many there are
# and how much time has passed. The words are those behind ## in the Makefile. Stops at
# the first that fails.
#
#   tools/steps.sh NAME TARGET…
set -u
name=$1
shift
count=$#
n=0
SECONDS=0
for target; do
	n=$((n + 1))
	printf '\n%s %d/%d, %d s: %s: %s\n' "$name" $n $count $SECONDS "$target" "$(sed -n "s/^$target:.*## //p" Makefile)"
	if ! "${MAKE:-make}" --no-print-directory "$target"; then
		printf '\n%s %d/%d, %d s: %s FAILED; alone it runs as: make %s\n' "$name" $n $count $SECONDS "$target" "$target"
		exit 1
	fi
done
# times must run in this shell: its second line is what all steps used, user and system
used=$(mktemp)
times >"$used"
processor=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); sum += 60 * t[1] + t[2] } printf "%d", sum }' "$used")
rm -f "$used"
printf '\n%s: %d of %d steps passed in %d s (%s s of processor time)\n' "$name" $count $count $SECONDS "$processor"
