"""A stored motion as ROS 1 serialises it, by Debian's genpy. Standard input is the full
definition of control_msgs/FollowJointTrajectoryGoal, which Debian does not package.

  stored.py write FILE   a FollowJointTrajectoryGoal; prints its JSON
  stored.py read FILE    prints the JSON of a serialised goal
"""
import json
import sys

import genpy
import genpy.dynamic

classes = genpy.dynamic.generate_dynamic("control_msgs/FollowJointTrajectoryGoal", sys.stdin.read())
FollowJointTrajectoryGoal = classes["control_msgs/FollowJointTrajectoryGoal"]
JointTolerance = classes["control_msgs/JointTolerance"]
JointTrajectoryPoint = classes["trajectory_msgs/JointTrajectoryPoint"]
assert FollowJointTrajectoryGoal._md5sum == "69636787b6ecbde4d61d711979bc7ecb", FollowJointTrajectoryGoal._md5sum


def tree(v):
    if isinstance(v, (genpy.Time, genpy.Duration)):
        return {"secs": v.secs, "nsecs": v.nsecs}
    if isinstance(v, genpy.Message):
        return {name: tree(getattr(v, name)) for name in v.__slots__}
    if isinstance(v, (list, tuple)):
        return [tree(one) for one in v]
    return v


if sys.argv[1] == "write":
    goal = FollowJointTrajectoryGoal()
    goal.trajectory.joint_names = ["joint51", "support/leg1", "joint52"]
    for i in range(4):
        goal.trajectory.points.append(JointTrajectoryPoint(
            positions=[i / 3, i % 2, 1e-76 * i], time_from_start=genpy.Duration(i, 500000001)))
    goal.path_tolerance = [JointTolerance("joint51", 0.5, 0, 0), JointTolerance("joint52", 0.1, 0.2, 0.3)]
    goal.goal_tolerance = [JointTolerance("joint52", 0.174, 0, 0)]
    goal.goal_time_tolerance = genpy.Duration(1, 250000000)
    with open(sys.argv[2], "wb") as f:
        goal.serialize(f)
else:
    goal = FollowJointTrajectoryGoal()
    with open(sys.argv[2], "rb") as f:
        goal.deserialize(f.read())
print(json.dumps(tree(goal), sort_keys=True))
