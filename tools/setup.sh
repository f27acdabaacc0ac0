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

# ROS 1 as Debian packages it: the clients and tools that the ROS 1 wire is held to
ros="ros-core python3-actionlib python3-rosbag python3-rosnode python3-rosparam python3-rosservice python3-rostopic python3-tf2-msgs python3-sensor-msgs python3-trajectory-msgs"
if ! /usr/bin/python3 -c 'import rospy, actionlib, rosbag, tf2_msgs, trajectory_msgs.msg, roscpp.srv' >/dev/null 2>&1; then
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
		echo "setup: installing ROS 1"
		# shellcheck disable=SC2086
		apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $ros >/dev/null
	else
		echo "setup: ROS 1 is missing; its tests are left out (Debian: apt-get install $ros)" >&2
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
