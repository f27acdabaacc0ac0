#!/usr/bin/env bash
# Builds peer.cpp against Debian's roscpp and actionlib. Debian has no control_msgs: their headers
# are made by gencpp from the definitions that Poise prints. What is up to date is kept.
#
#   build.sh POISE DIRECTORY
set -eu
poise=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
stamp="$(cat "$here/peer.cpp" "$here/build.sh" | cksum)"
if [ -x "$work/peer" ] && [ "$(cat "$work/peer.stamp" 2> /dev/null)" = "$stamp" ]; then
	exit 0
fi
mkdir -p "$work/msg" "$work/include/control_msgs"
for part in Goal Result Feedback ActionGoal ActionResult ActionFeedback Action; do
	"$poise" interface show --ros1 control_msgs/FollowJointTrajectory$part > "$work/msg/FollowJointTrajectory$part.msg"
done
"$poise" interface show --ros1 control_msgs/JointTolerance > "$work/msg/JointTolerance.msg"
for file in "$work"/msg/*.msg; do
	/usr/bin/python3 /usr/lib/gencpp/gen_cpp.py "$file" -p control_msgs -o "$work/include/control_msgs" -e /usr/share/gencpp \
		-Icontrol_msgs:"$work/msg" -Istd_msgs:/usr/share/std_msgs/msg -Iactionlib_msgs:/usr/share/actionlib_msgs/msg \
		-Itrajectory_msgs:/usr/share/trajectory_msgs/msg -Igeometry_msgs:/usr/share/geometry_msgs/msg
done
nice g++ -std=c++17 -O1 -I"$work/include" "$here/peer.cpp" -o "$work/peer" \
	-lactionlib -lroscpp -lrosconsole -lroscpp_serialization -lrostime -lboost_thread -lboost_chrono -lpthread
echo "$stamp" > "$work/peer.stamp"
