#!/usr/bin/env bash
# Runs targets of the Makefile one after the other, and says which, how many there are
# and how much time has passed. The words are those behind ## in the Makefile. Stops at
# the first that fails. Targets joined by + wait most of their time for programs: they run
# side by side, with what make needs before them (READY) made already, and what each says
# is shown when it has ended.
#
#   tools/steps.sh NAME TARGET[+TARGET…]…
set -u
name=$1
shift
count=$#
n=0
SECONDS=0
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

words() { sed -n "s/^$1:.*## //p" Makefile; }
run() { "${MAKE:-make}" --no-print-directory "$@"; }
failed() {
	printf '\n%s %d/%d, %d s: %s FAILED; alone it runs as: make %s\n' "$name" $n $count $SECONDS "$1" "$1"
	exit 1
}

for step; do
	n=$((n + 1))
	case $step in
	*+*)
		printf '\n%s %d/%d, %d s: side by side: %s\n' "$name" $n $count $SECONDS "${step//+/, }"
		for target in ${step//+/ }; do
			(
				run READY= "$target" >"$logs/$target" 2>&1
				echo $? >"$logs/$target.result"
				printf '\n%s %d/%d, %d s: %s: %s\n%s\n' "$name" $n $count $SECONDS "$target" "$(words "$target")" "$(cat "$logs/$target")"
			) &
		done
		wait
		for target in ${step//+/ }; do
			[ "$(cat "$logs/$target.result" 2>/dev/null)" = 0 ] || failed "$target"
		done
		;;
	*)
		printf '\n%s %d/%d, %d s: %s: %s\n' "$name" $n $count $SECONDS "$step" "$(words "$step")"
		run "$step" || failed "$step"
		;;
	esac
done
# times must run in this shell: its second line is what all steps used, user and system
times >"$logs/used"
processor=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); sum += 60 * t[1] + t[2] } printf "%d", sum }' "$logs/used")
printf '\n%s: %d of %d steps passed in %d s (%s s of processor time)\n' "$name" $count $count $SECONDS "$processor"
