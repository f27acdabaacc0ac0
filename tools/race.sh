#!/usr/bin/env bash
# Runs go test -race -short with the given arguments. A test that ended because the
# detector itself broke down ("ThreadSanitizer: CHECK failed", seen once with hundreds of
# thousands of timers of testing/synctest) has shown nothing, neither a race nor its
# absence: such a package, and no other, is run again, twice at most.
#
#   tools/race.sh [FLAGS] PACKAGE…
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
flags=()
while [ $# -gt 0 ] && [ "${1#-}" != "$1" ]; do
	flags+=("$1")
	case $1 in -p | -run) flags+=("$2"); shift ;; esac
	shift
done
[ $# -gt 0 ] || { echo "race: no packages given" >&2; exit 1; }
for try in 1 2 3; do
	"${GO:-go}" test -race -short -vet=off -count=1 -timeout 30m ${flags[@]+"${flags[@]}"} "$@" 2>&1 | tee "$log"
	[ "${PIPESTATUS[0]}" -ne 0 ] || exit 0
	# what a package printed stands before its own line, "FAIL<tab>package<tab>time"
	again=$(awk -F '\t' '
		/ThreadSanitizer: CHECK failed/ { broke = 1 }
		/WARNING: DATA RACE/ || /--- FAIL/ || /^panic:/ || /\[(build|setup) failed\]/ { found = 1 }
		$1 == "FAIL" && NF > 1 { if (!broke || found) { real = 1; exit }; print $2 }
		NF > 1 && ($1 == "FAIL" || $1 ~ /^(ok|\?) *$/) { broke = found = 0 }
		END { if (real) print "real" }' "$log")
	case $again in "" | *real) exit 1 ;; esac
	set -- $again
	echo "race: the detector broke down in $* (run $try of 3)"
done
exit 1
