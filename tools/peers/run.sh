#!/usr/bin/env bash
# Measures Poise and its peers in one run: the same robots, the same machine,
# turn by turn, the smallest time of each. Pinocchio is compiled from the headers
# of its PyPI wheels, KDL comes from Debian; both are installed where that is allowed,
# and what cannot be had is reported as not measured. The first run compiles for some
# minutes.
#
# POISE_PEERS_ROUNDS (4) turns are taken, POISE_PEERS_SECONDS (0.4) for each
# figure of a peer.
set -eu
cd "$(dirname "$0")/../.."
here=tools/peers
work=$PWD/.tools/peers
robots=$(cd .. && pwd)/shared/robots
rounds=${POISE_PEERS_ROUNDS:-4}
mkdir -p "$work"

say() { echo "peers: $*" >&2; }

# debian PACKAGE…: Debian packages, if this may be done here
debian() {
	if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
		say "not installed for want of rights: $*"
		return 1
	fi
	say "installing $*"
	apt-get update -qq > /dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" > /dev/null 2>&1
}
command -v g++ > /dev/null || debian g++ || { say "g++ is missing"; exit 1; }
python3 -c 'import ensurepip' 2> /dev/null || debian python3 python3-venv || true

if [ ! -d "$robots" ]; then
	say "../shared/robots is absent: nothing to measure with"
	exit 1
fi
sed 's/type="prismatic"/type="fixed"/' "$robots/panda_inertial/panda_inertial.urdf" > "$work/panda7.urdf"
file() { [ "$1" = panda7 ] && echo "$work/panda7.urdf" || echo "$robots/$1/$1.urdf"; }

# build OUT SOURCE FLAGS…: compile if the source or the flags have changed
build() {
	local out=$work/$1 source=$here/$2 opt=$3
	shift 2
	local stamp
	stamp="$(cat "$source" $here/bench.hpp | cksum) $*"
	if [ ! -x "$out" ] || [ "$(cat "$out.stamp" 2>/dev/null)" != "$stamp" ]; then
		say "compiling ${source##*/} with $opt"
		nice g++ -std=c++17 -DNDEBUG "$source" -o "$out" "$@" 2> "$out.log" || return 1
		echo "$stamp" > "$out.stamp"
	fi
}

pinocchio=no
build_pinocchio() {
	local venv=$work/venv
	if ! cmp -s $here/requirements.txt "$venv/.installed"; then
		say "installing Pinocchio's wheel"
		python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check -r $here/requirements.txt || return 1
		cp $here/requirements.txt "$venv/.installed"
	fi
	local prefix
	prefix=$(echo "$venv"/lib/python3*/site-packages/cmeel.prefix)
	local flags=(-isystem "$prefix/include" -isystem "$prefix/include/eigen3" -isystem "$prefix/include/urdfdom" -isystem "$prefix/include/urdfdom_headers"
		-DPINOCCHIO_WITH_URDFDOM -DBOOST_MPL_LIMIT_LIST_SIZE=30 -DBOOST_MPL_LIMIT_VECTOR_SIZE=30
		-DBOOST_FUSION_INVOKE_MAX_ARITY=12 -DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS)
	build pinocchio_model pinocchio_model.cpp -O1 "${flags[@]}" -L"$prefix/lib" -lpinocchio_parsers -lpinocchio_default "-Wl,-rpath,$prefix/lib" &&
		build pinocchio_O2 pinocchio.cpp -O2 "${flags[@]}" &&
		build pinocchio_native pinocchio.cpp -O3 -march=native "${flags[@]}" || return 1
	models=()
	local name base tip
	while read -r name base tip; do
		"$work/pinocchio_model" "$base" "$tip" "$(file "$name")" > "$work/$name.model" || return 1
		models+=("$name:$work/$name.model")
	done <<- END
		panda7 fixed panda_link8
		ur5e fixed tool0
		go2 floating FL_foot
		atlas floating l_hand
	END
	pinocchio=yes
}
build_pinocchio || say "Pinocchio: not measured (see $work/*.log)"

kdl=no
build_kdl() {
	pkg-config --exists orocos-kdl urdfdom 2> /dev/null || debian liborocos-kdl-dev liburdfdom-dev libeigen3-dev pkg-config || true
	build kdl kdl.cpp -O2 -I/usr/include/eigen3 -lorocos-kdl -lurdfdom_model && kdl=yes
}
build_kdl || say "KDL: not measured (see $work/kdl.log)"

say "compiling Poise"
for level in v1 v3; do
	for package in linalg kinematics dynamics kinematics/ik; do
		GOAMD64=$level go test -c -o "$work/$(echo "$package" | tr / _)_$level.test" "./$package"
	done
done

# both sides take the smallest mean of many short batches, which a busy machine
# disturbs least
results=$work/results.txt
: > "$results"
for round in $(seq "$rounds"); do
	say "round $round of $rounds"
	for level in v1 v3; do
		for package in linalg kinematics dynamics kinematics/ik; do
			test=$work/$(echo "$package" | tr / _)_$level.test
			pattern='Sincos12|(Inverse|MassMatrix|Forward|Position|Velocity|Acceleration|Jacobian|JacobianOne)/(panda7|ur5e|go2|atlas)$|Line/panda'
			(cd "$package" && "$test" -test.run '^$' -test.bench "$pattern" -test.benchtime 1ms -test.count 60) |
				sed -n "s|^Benchmark|BenchmarkPoise/$level/|p" >> "$results"
		done
	done
	if [ $pinocchio = yes ]; then
		"$work/pinocchio_O2" pinocchio-O2 "${models[@]}" >> "$results"
		"$work/pinocchio_native" pinocchio-native "${models[@]}" >> "$results"
	fi
	if [ $kdl = yes ]; then
		"$work/kdl" "panda7:panda_link8:$(file panda7)" "ur5e:tool0:$(file ur5e)" >> "$results"
	fi
done
go run ./$here/table < "$results"
echo
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, load $(cut -d' ' -f1-3 /proc/loadavg)"
echo "$(go version), $(g++ --version | head -1), $(tr '\n' ' ' < $here/requirements.txt)"
echo "commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)"

# the peer of the jerk-limited moves has a runner of its own
if [ -x $here/ruckig.sh ]; then
	echo
	$here/ruckig.sh || say "Ruckig: not measured"
fi
