#!/usr/bin/env bash
# Times Poise's ROS 1 wire beside rospy and roscpp, turn by turn in one run: the same client in
# C++ (peer.cpp) measures an echo, joint_states at 1 kHz, goals until they are accepted, and a
# burst of 20,000 messages through the echo. A roscore of its own is the master of all.
#
#   bench.sh POISE [ROUNDS]
set -eu
cd "$(dirname "$0")/../../.."
poise=$(realpath "${1:-bin/poise}")
rounds=${2:-3}
here=$PWD/tools/peers/ros1
work=$PWD/.tools/ros1
if ! command -v roscore > /dev/null || ! [ -d /usr/include/actionlib ]; then
	echo "ros1: not measured: Debian's ROS 1 is missing (make setup)" >&2
	exit 0
fi
mkdir -p "$work/home" "$work/motions"
"$here/build.sh" "$poise" "$work"
go build -trimpath -o "$work/echo" ./tools/peers/ros1/echo
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export ROS_MASTER_URI=http://127.0.0.1:$port ROS_IP=127.0.0.1 ROS_HOME=$work/home POISE_BINARY=$poise
cat > "$work/bench.yaml" << 'END'
rates: {joint_states: 1000}
faults: {cycle_gap: {severity: ignore}, overrun: {severity: ignore}}
END
started=()
end() {
	for pid in "${started[@]}"; do kill -INT "$pid" 2> /dev/null || true; done
	for pid in "${started[@]}"; do wait "$pid" 2> /dev/null || true; done
	started=()
}
core=
finish() {
	end
	[ -z "$core" ] || { kill -INT "$core" 2> /dev/null || true; wait "$core" 2> /dev/null || true; }
}
trap finish EXIT
env --default-signal=INT roscore -p "$port" > "$work/roscore.log" 2>&1 &
core=$!
until rostopic list > /dev/null 2>&1; do sleep 0.2; done
# in the background, with the signals of the foreground: they take their names back by SIGINT
begin() {
	env --default-signal=INT "$@" > "$work/server.log" 2>&1 &
	started+=($!)
}
# time_one WHO WHAT SERVER…: what cannot be measured is said
time_one() {
	local who=$1 what=$2
	shift 2
	begin "$@"
	timeout 180 "$work/peer" "measure-$what" 2> "$work/$who-$what.log" | sed "s/^/$who: /"
	[ "${PIPESTATUS[0]}" = 0 ] || echo "$who: $what was not measured, see $work/$who-$what.log"
	end
}
serve=("$poise" serve --listen 127.0.0.1:0 --motions "$work/motions" --config "$work/bench.yaml" --robot arm6 --ros1)
for round in $(seq "$rounds"); do
	echo "round $round of $rounds, load $(cut -d' ' -f1-3 /proc/loadavg)"
	time_one roscpp echo "$work/peer" echo
	time_one poise echo "$work/echo"
	time_one rospy echo /usr/bin/python3 "$here/timed.py" echo
	time_one roscpp joints "$work/peer" joints
	time_one poise joints "${serve[@]}"
	time_one rospy joints /usr/bin/python3 "$here/timed.py" joints
	time_one roscpp goals "$work/peer" serve
	time_one poise goals "${serve[@]}"
	time_one rospy goals /usr/bin/python3 "$here/timed.py" serve
done
