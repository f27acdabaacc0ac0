#!/usr/bin/env bash
# State-to-state motion beside Ruckig, in the same run: builds Ruckig from the
# sources that PyPI has, outside the project, and times both on the same tasks.
# Prints the figures of each and their ratio; fails if the motions differ.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${POISE_PYTHON:-python3} # with pip: make bench-peers sets one up
version=0.19.4
cache=${POISE_PEERS_CACHE:-$root/.tools/peers}/ruckig-$version
source=$cache/ruckig-$version
mkdir -p "$cache"
command -v g++ > /dev/null || { echo "peers: g++ is missing; tools/peers/run.sh installs it" >&2; exit 1; }

if [ ! -d "$source" ]; then
	echo "peers: sources of Ruckig $version from PyPI"
	"$python" -m pip download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$cache" "ruckig==$version"
	tar -xzf "$cache/ruckig-$version.tar.gz" -C "$cache"
fi

# its solver without the client of its cloud service
flags=(-std=c++20 -O3 -march=native -DNDEBUG)
library=$cache/libruckig.a
if [ ! -f "$library" ]; then
	echo "peers: building Ruckig with ${flags[*]}"
	for file in "$source"/src/ruckig/*.cpp; do
		case $file in *cloud_client.cpp) continue ;; esac
		g++ "${flags[@]}" -I"$source/include" -c "$file" -o "$cache/$(basename "$file" .cpp).o"
	done
	ar rcs "$library" "$cache"/*.o
fi
g++ "${flags[@]}" -I"$source/include" "$root/tools/peers/ruckig.cpp" "$library" -o "$cache/bench"
(cd "$root" && go build -o "$cache/poise-bench" ./tools/peers/ruckig)

# in turns, so that both meet the same load; the smallest of each counts
out=$cache/figures
: > "$out"
for _ in 1 2 3 4 5; do
	"$cache/bench" >> "$out"
	"$cache/poise-bench" >> "$out"
done
awk '
	{ split($1, part, "/"); key = part[3] "/" part[4]
	  if (!((part[2], key) in best) || $3 < best[part[2], key]) best[part[2], key] = $3
	  if (NF > 4) { sum[part[2], key] = $5 }
	  keys[key] = 1 }
	END {
		for (key in keys) {
			printf "%-24s Ruckig %8.1f ns   Poise %8.1f ns   ratio %.2f\n", key, best["ruckig", key], best["poise", key], best["poise", key] / best["ruckig", key]
			d = sum["ruckig", key] - sum["poise", key]
			if (d > 1e-6 || d < -1e-6) { print "peers: the durations of " key " differ by " d " s in all"; bad = 1 }
		}
		exit bad
	}' "$out" | sort
exit "${PIPESTATUS[0]}"
