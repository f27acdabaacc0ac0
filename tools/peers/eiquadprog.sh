#!/usr/bin/env bash
# Quadratic programs and strict priorities beside eiquadprog, in the same run and on the same
# problems, which Poise writes. eiquadprog comes from PyPI: its library as it is there, and its
# variant of fixed size, a template, compiled for this processor. The answers are compared.
# Prints, over five turns, the median of each side's figures and of their ratio to the faster
# variant; fails if the answers differ or a ratio is above its limit.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${POISE_PYTHON:-python3} # with pip: make bench-peers sets one up
version=1.3.2
cache=${POISE_PEERS_CACHE:-$root/.tools/peers}/eiquadprog-$version
prefix=$cache/cmeel.prefix
mkdir -p "$cache"
command -v g++ > /dev/null || { echo "peers: g++ is missing; tools/peers/run.sh installs it" >&2; exit 1; }

if [ ! -d "$prefix" ]; then
	echo "peers: eiquadprog $version and Eigen from PyPI" >&2
	"$python" -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$cache" "eiquadprog==$version" cmeel-eigen==3.4.1
	for wheel in "$cache"/*.whl; do "$python" -m zipfile -e "$wheel" "$cache"; done
fi

flags=(-std=c++17 -O3 -DNDEBUG -isystem "$prefix/include" -isystem "$prefix/include/eigen3")
stamp=$(cat "$root/tools/peers/eiquadprog.cpp" "$root/tools/peers/bench.hpp" | cksum)
if [ "$(cat "$cache/stamp" 2> /dev/null)" != "$stamp" ]; then
	echo "peers: compiling eiquadprog.cpp" >&2
	# without -march: the library and the program must agree on how Eigen aligns
	g++ "${flags[@]}" "$root/tools/peers/eiquadprog.cpp" -o "$cache/library" -L"$prefix/lib" -leiquadprog "-Wl,-rpath,$prefix/lib"
	g++ "${flags[@]}" -march=native -DWITH_RT "$root/tools/peers/eiquadprog.cpp" -o "$cache/fixed"
	echo "$stamp" > "$cache/stamp"
fi
(cd "$root" && go test -c -o "$cache/poise.test" ./wholebody)
cd "$root/wholebody"
POISE_PEERS_PROBLEMS=$cache/problems "$cache/poise.test" -test.run WriteProblemsForPeers > /dev/null

out=$cache/figures
: > "$out"
for turn in 1 2 3 4 5; do
	for peer in library fixed; do
		"$cache/$peer" "$cache/problems" | sed "s/^/$turn /" >> "$out"
	done
	"$cache/poise.test" -test.run '^$' -test.bench Peers -test.benchtime 200ms | sed -n "s/^Benchmark/$turn Benchmark/p" >> "$out"
done

# the cascade adds 1e-8 to be strictly convex, and by that its residuals are off a little
echo "| problems | library, µs | fixed size, µs | Poise, µs | ratio to the faster | limit |"
echo "|---|---|---|---|---|---|"
awk '
	$2 == "check" { if ($5 == "failed" || $5 > ($4 ~ /^pony/ ? 2e-2 : 1e-9)) { print "peers: " $3 " answers " $4 " otherwise: " $5 > "/dev/stderr"; bad = 1 }; next }
	{ split($2, part, "/"); name = part[length(part)]
	  if (part[1] == "BenchmarkPeer") { peer = part[2]; ns = $4 }
	  else { sub(/-[0-9]+$/, "", name); peer = "poise"; for (i = 3; i <= NF; i++) if ($i == "ns/step") ns = $(i - 1) }
	  what = part[1] == "BenchmarkPeer" ? part[3] : part[2]
	  time[$1, peer, what, name] = ns }
	function median(a, n,   i, j, t) { for (i = 2; i <= n; i++) { t = a[i]; for (j = i - 1; j > 0 && a[j] > t; j--) a[j + 1] = a[j]; a[j + 1] = t } return a[int((n + 1) / 2)] }
	function least(turn, what, name,   l, f) { l = time[turn, "eiquadprog", what, name]; f = time[turn, "eiquadprog-rt", what, name]; return f != "" && f + 0 < l + 0 ? f : l }
	END {
		limit["qp dense30"] = limit["qp feet-easy"] = limit["qp feet-hard"] = 1.5
		limit["structured feet-easy"] = limit["structured feet-hard"] = 0.5
		limit["stack pony-seed"] = limit["stack pony-default"] = 1
		for (k in limit) {
			split(k, part, " "); what = part[1]; name = part[2]
			theirs = what == "structured" ? "qp" : what
			for (t = 1; t <= 5; t++) {
				l[t] = time[t, "eiquadprog", theirs, name]; f[t] = time[t, "eiquadprog-rt", theirs, name]
				p[t] = time[t, "poise", what, name]; r[t] = p[t] / least(t, theirs, name)
			}
			has = f[1] != ""
			ratio = median(r, 5)
			printf "| %s | %.1f | %s | %.1f | %.2f | %.1f |\n", k, median(l, 5) / 1e3, has ? sprintf("%.1f", median(f, 5) / 1e3) : "–", median(p, 5) / 1e3, ratio, limit[k]
			if (!(ratio <= limit[k])) { print "peers: " k " takes " ratio " of eiquadprog, limit " limit[k] > "/dev/stderr"; bad = 1 }
		}
		exit bad
	}' "$out" | sort
status=${PIPESTATUS[0]}
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg), $(go version), $(g++ --version | head -1)"
exit "$status"
