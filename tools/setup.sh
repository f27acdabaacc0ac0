#!/usr/bin/env bash
# Sees to it that what the tests need is there: a C compiler for the race
# detector, a Python with the outside tools that we compare with, Node and a
# browser for the page and for clients that others wrote, and ROS 1 for those of ROS.
set -eu
venv=$1
here=$(cd "$(dirname "$0")" && pwd)

need() { # command, Debian package
	command -v "$1" >/dev/null 2>&1 && return
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
		echo "setup: installing $2"
		apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null
	else
		echo "setup: $1 is missing; install it (Debian: apt-get install $2)" >&2
		exit 1
	fi
}

need gcc gcc
need python3 python3
need node nodejs
need npm npm
need chromium chromium
need zsh zsh
need fish fish
need unshare util-linux
need ip iproute2

# ROS 1 as Debian packages it: the clients and tools that the ROS 1 wire is held to, in Python
# and in C++, and RViz with a screen in memory
ros="ros-core python3-actionlib python3-rosbag python3-rosnode python3-rosparam python3-rosservice python3-rostopic python3-tf2-msgs python3-sensor-msgs
python3-trajectory-msgs python3-genpy ros-trajectory-msgs ros-sensor-msgs ros-actionlib-msgs ros-geometry-msgs topic-tools tf-tools tf2-tools python3-tf2-ros
joint-state-publisher ros-robot-state-publisher g++ python3-gencpp libroscpp-dev libactionlib-dev libsensor-msgs-dev libtrajectory-msgs-dev rviz xvfb xauth libgl1-mesa-dri imagemagick"
has_ros() {
	/usr/bin/python3 -c 'import rospy, actionlib, rosbag, tf2_msgs, trajectory_msgs.msg, roscpp.srv, genpy.generator, tf2_ros' >/dev/null 2>&1 &&
		command -v rviz >/dev/null && command -v Xvfb >/dev/null && command -v import >/dev/null && command -v g++ >/dev/null &&
		[ -d /usr/include/actionlib ] && [ -d /usr/include/trajectory_msgs ] && [ -x /usr/lib/tf/tf_echo ] && [ -x /usr/lib/tf2_tools/echo.py ] &&
		[ -x /usr/lib/topic_tools/relay ] && [ -x /usr/lib/gencpp/gen_cpp.py ] &&
		[ -x /usr/lib/robot_state_publisher/robot_state_publisher ] && [ -x /usr/lib/joint_state_publisher/joint_state_publisher ]
}
if ! has_ros; then
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
		echo "setup: installing ROS 1"
		# shellcheck disable=SC2086
		apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $ros >/dev/null
		has_ros || { echo "setup: ROS 1 is installed, and parts of it are missing" >&2; exit 1; }
	else
		echo "setup: ROS 1 is missing; its tests are left out (Debian: apt-get install $ros)" >&2
	fi
fi

# Fast DDS, on which ROS 2's default middleware stands
if [ ! -f /usr/include/fastdds/dds/domain/DomainParticipant.hpp ]; then
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
		echo "setup: installing Fast DDS"
		apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends g++ libfastrtps-dev libfastcdr-dev >/dev/null
	else
		echo "setup: Fast DDS is missing; make check fails without it at make ros2 (Debian: apt-get install libfastrtps-dev libfastcdr-dev)" >&2
	fi
fi

requirements=$here/oracle/requirements.txt
stamp=$venv/.installed
if [ ! -f "$stamp" ] || ! cmp -s "$requirements" "$stamp"; then
	echo "setup: Python tools into ${venv#"$PWD"/}"
	python3 -m venv "$venv" 2>/dev/null || { need python3-venv python3-venv; python3 -m venv "$venv"; }
	"$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$requirements"
	cp "$requirements" "$stamp"
fi
