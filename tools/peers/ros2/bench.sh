#!/usr/bin/env bash
# Times package rtps beside Cyclone DDS (C) and Fast DDS (C++), turn by turn in one run, in a network
# namespace of its own.
set -eu
cd "$(dirname "$0")/../../.."
here=$PWD/tools/peers/ros2
work=$PWD/.tools/ros2
if [ -z "${POISE_NETWORK_NAMESPACE:-}" ]; then
	if ! command -v idlc >/dev/null 2>&1 || [ ! -f /usr/include/dds/dds.h ]; then
		packages="cyclonedds-dev cyclonedds-tools"
		if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
			echo "bench: Cyclone DDS is missing (Debian: apt-get install $packages)" >&2
			exit 1
		fi
		# shellcheck disable=SC2086
		apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
	fi
	mkdir -p "$work/idl"
	go build -trimpath -o "$work/bench" ./tools/peers/ros2/bench
	idlc -o "$work/idl" "$here/text.idl"
	cc -O2 -I"$work/idl" -o "$work/cyclone-bench" "$here/bench.c" "$work/idl/text.c" -lddsc -pthread
	g++ -std=c++17 -O2 -o "$work/fastdds-bench" "$here/bench.cpp" -lfastrtps -lfastcdr -pthread
	user=
	[ "$(id -u)" = 0 ] || user=-r
	POISE_NETWORK_NAMESPACE=1 exec unshare $user -n -- sh -c 'ip link set lo up && ip link set lo multicast on && ip route add 224.0.0.0/4 dev lo && exec "$@"' sh "$0"
fi
changed=
git diff --quiet HEAD || changed=", changed"
echo "commit $(git rev-parse --short HEAD)$changed; $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort -u), $(nproc) cores; Linux $(uname -r); load $(cut -d' ' -f1-3 /proc/loadavg)"
echo "$(go version | cut -d' ' -f3); Cyclone DDS $(dpkg-query -W -f '${Version}' cyclonedds-dev); Fast DDS $(dpkg-query -W -f '${Version}' libfastrtps-dev)"
echo
"$work/bench" "Cyclone DDS=$work/cyclone-bench" "Fast DDS, UDP=env UDP=1 $work/fastdds-bench" "Fast DDS, shared memory=$work/fastdds-bench"
