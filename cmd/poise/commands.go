package main

// commands lists what the binary can do, in the order of the help text.
func commands() []command {
	return append(append(serveCommands(), driveCommands()...), fileCommands()...)
}

// serveCommands run a robot, or belong to running one.
func serveCommands() []command {
	return []command{
		{name: "serve", args: "[NAME:=VALUE …]", group: groupServe, declare: serveCommand, words: []string{},
			short: "the main job: a virtual robot, its graph for ROS clients, and the Studio in the browser",
			long: `NAME:=VALUE are arguments of a .xacro robot; with --ros1, --ros1-master or --ros2 those with an
underscore in front are for the ROS node: __ns:=/robot1 __name:=body _rate:=10.
Ctrl-C stops: goals end, the robot ramps down and holds, unless the configuration's
leaving says otherwise.`,
			example: []string{
				"poise serve                                              # the pony, then open http://127.0.0.1:8080",
				"poise serve --robot my_robot.urdf.xacro arm:=left --package-path ~/meshes",
				"poise serve --with-real-sim                              # two robots: virtual and real",
				"poise serve --robot R --bus legs=/dev/ttyUSB0,baud=500000 --bus head=/dev/ttyUSB1 --guard",
				"poise serve --ros1-master --remap joint_states:=states __ns:=/robot1",
				"poise serve --ros2 --ros-args -r __ns:=/robot1          # a ROS 2 node, for Jazzy's peers"}},
		{name: "config", group: groupServe, declare: configCommand, words: []string{},
			short:   "the configuration of the server with all defaults and comments; or the drivers that a robot can have",
			example: []string{"poise config > poise.yaml     # then edit it, and: poise serve --config poise.yaml", "poise config --drivers"}},
		{name: "bus", args: "[scan PORT | monitor PORT | ping PORT ID | read PORT ID [REGISTER …] | write PORT ID REGISTER VALUE | set-id PORT ID NEW | set-baud PORT ID BAUD | calibrate PORT | emulate FAMILY|imu]",
			group: groupServe, declare: busCommand, words: busNames(),
			short: "real servos: list the ports, find servos, read and write their registers, give them ids; or emulate them",
			long: `list       the serial ports, and what keeps you from using them; also without a word
scan       every family, every baud rate; writes nothing
monitor    position, voltage, temperature and torque, twice a second
ping       one servo: model, firmware, baud rate
read       registers by their names, all if none is named
write      one register; those that move the servo or give it torque only with --torque
set-id     a new id, with one servo on the line; asks twice before it writes
set-baud   a new baud rate, with one servo on the line; asks twice before it writes
calibrate  direction, zero and limits of limp servos, moved by hand; writes robot.yaml
emulate    servos on pseudo-terminals that move a robot with mass, until Ctrl-C; with --imu its inertial unit, too, with imu that alone`,
			example: []string{"poise bus", "poise bus scan /dev/ttyUSB0 --family feetech --baud 1000000 --ids 1-20",
				"poise bus read /dev/ttyUSB0 4 present_position", "poise bus set-id /dev/ttyUSB0 1 4 --family feetech",
				"poise bus calibrate /dev/ttyUSB0 --robot my_arm", "poise bus calibrate /dev/ttyUSB0 --robot so101 --save my_arm --lerobot follower.json",
				"poise bus emulate feetech --robot pony --link /tmp/servos"}},
		{name: "replay", args: "[FILE]", group: groupServe, declare: replayCommand,
			short:   "run a flight recording again and compare every tick, bit for bit; without FILE the last one of the state folder",
			example: []string{"poise replay", "poise replay flight.rec --robot my_robot.urdf"}},
	}
}

// driveCommands talk to a server.
func driveCommands() []command {
	return []command{
		{name: "play", args: "NAME", group: groupDrive, declare: playCommand, words: []string{},
			short:   "play a stored motion on a running server; Ctrl-C ramps down",
			long:    "poise motions list lists those that come with a robot, poise call motions/list all that a\nserver has.",
			example: []string{"poise play nod", "poise play dance --loop --speed 50 --robot real"}},
		{name: "pose", args: "NAME", group: groupDrive, declare: poseCommand, words: []string{},
			short: "move to a named pose, all joints at once; Ctrl-C ramps down", example: []string{"poise pose stand"}},
		{name: "teach", args: "NAME", group: groupDrive, declare: teachCommand, words: []string{},
			short:   "make a motion of poses into which you put the robot by hand, or of the movement itself",
			long:    "The joints that you move have no torque: poise torque off, of all or of some limbs.",
			example: []string{"poise teach hello --robot real     # after: poise torque off arm --robot real", "poise teach hello --robot real --record --replace"}},
		{name: "stop", args: "[CATEGORY]", group: groupDrive, declare: stopCommand, words: []string{"0", "1", "2"},
			short:   "stop all robots, or one: 2 (ramp, then hold; the default), 1 (ramp, then torque off) or 0 (torque off)",
			example: []string{"poise stop                # goals are refused until poise reset", "poise stop 1 --robot real"}},
		{name: "reset", group: groupDrive, declare: resetCommand, words: []string{},
			short: "let all robots, or one, take goals again after a stop or a fault; after stop 0 or 1, torque on comes next", example: []string{"poise reset", "poise reset --robot real"}},
		{name: "torque", args: "on|off [RESOURCE …]", group: groupDrive, declare: torqueCommand, words: []string{"on", "off"},
			short: "give the torque back or take it away: of the whole robot, or of some limbs", example: []string{"poise torque on", "poise torque off head --robot real"}},
		{name: "cycle", args: "0|1|2 [RESOURCE …]", group: groupDrive, declare: cycleCommand, words: []string{"0", "1", "2"},
			short: "drive servos by positions alone (0), with the torques that the motion needs (1), or by the whole body under strict priorities (2)", example: []string{"poise cycle 1", "poise cycle 0 head --robot real", "poise cycle 2"}},
		{name: "pause", args: "[CONTROLLER]", group: groupDrive, declare: pauseCommand, words: []string{},
			short: "let motions stand still on their paths", example: []string{"poise pause          # until poise resume"}},
		{name: "resume", args: "[CONTROLLER]", group: groupDrive, declare: resumeCommand, words: []string{},
			short: "let them go on", example: []string{"poise resume"}},
		{name: "speed", args: "PERCENT [CONTROLLER]", group: groupDrive, declare: speedCommand, words: []string{},
			short: "how fast motions go, 0 … 200 %; prints what was achieved", example: []string{"poise speed 50"}},
		{name: "state", group: groupDrive, declare: stateCommand, words: []string{},
			short: "power, goals, who owns what, faults", example: []string{"poise state", "poise state --robot real --json"}},
		{name: "controllers", group: groupDrive, declare: controllersCommand, words: []string{},
			short: "the controllers and what they do", example: []string{"poise controllers"}},
		{name: "switch", group: groupDrive, declare: switchCommand, words: []string{},
			short: "start and stop controllers: all of it, or nothing", example: []string{"poise switch --start joint_state --publisher '*' --stop look_at"}},
		{name: "get-up", args: "[left|right|belly]", group: groupDrive, declare: getUpCommand, words: []string{"left", "right", "belly"},
			short:   "bring a robot that lies back on its feet; Ctrl-C ramps down",
			long:    "Its inertial unit tells how it lies; of a robot without one, say it. After a fall it needs\npoise reset and poise torque on first.",
			example: []string{"poise get-up", "poise get-up left --robot real"}},
		{name: "walk", group: groupDrive, declare: walkCommand, words: []string{},
			short: "walk until Ctrl-C, or for a time, and then stand",
			long:  "In the end it says how far the robot came, and how fast it walked if that is less than what was asked for.", example: []string{"poise walk --x 0.03", "poise walk --x 0.1 --yaw 0.2 --gait trot --for 10"}},
		{name: "topic", args: "list | echo NAME | pub NAME TYPE JSON", group: groupDrive, declare: topicCommand, words: []string{"list", "echo", "pub"},
			short: "the topics of a server, what one says, and messages of your own", example: []string{"poise topic list", "poise topic echo joint_states --count 1 --json",
				`poise topic pub controllers/walk/gait std_msgs/msg/String '{"data": "crawl"}'`}},
		{name: "goal", args: "ACTION [JSON]", group: groupDrive, declare: goalCommand, words: []string{},
			short:   "send a goal of any action; Ctrl-C ramps down",
			long:    "JSON is the goal, - reads it from standard input, and without it every field has its default.",
			example: []string{`poise goal play_motion '{"command":{"type":"motion","command":"nod"}}'`}},
		{name: "call", args: "SERVICE [JSON]", group: groupDrive, declare: callCommand, words: []string{},
			short:   "call any service of a server",
			long:    "JSON is the request, - reads it from standard input, and without it every field has its\ndefault. poise call /rosapi/services lists the services.",
			example: []string{`poise call motions/get '{"name":"nod"}'`, "poise call /rosapi/services"}},
	}
}

// fileCommands need no server.
func fileCommands() []command {
	return []command{
		{name: "check", args: "ROBOT [NAME:=VALUE …]", group: groupFiles, declare: checkCommand,
			short:   "what it is: joints, groups, limits and where each comes from, mass, warnings",
			example: []string{"poise check pony", "poise check my_robot.urdf.xacro arm:=left --json", "poise check my_robot.urdf --write-limits > joint_limits.yaml"}},
		{name: "new-robot", args: "URDF [NAME:=VALUE …]", group: groupFiles, declare: newRobotCommand,
			short: "set up a robot of your own: writes robot.yaml beside its URDF with limbs, tips, feet, mirror, poses, mesh paths, limits",
			long: `Each key is proposed from the robot's tree, shapes and names, and explained in the file: read
it and change it. Accelerations go to joint_limits.yaml, each with how it was chosen. What
stands in a robot.yaml already is kept byte for byte; only keys that are missing are added,
and nothing is written that poise check would refuse. URDF may be a .xacro file or a folder.`,
			example: []string{"poise new-robot my_arm.urdf --dry-run                     # look first",
				"poise new-robot my_arm.urdf                               # then: poise serve --robot my_arm.urdf",
				"poise new-robot my_dog.urdf --rename limb=tail --no-limits --package-path ~/meshes"}},
		{name: "kin", args: "ROBOT [NAME:=VALUE …] fk|jacobian|ik", group: groupFiles, declare: kinCommand,
			short:   "where links are and how joints move them: JSON lines in, JSON lines out",
			example: []string{`echo '{"q":[0,0.3,-0.6,0,0.4,0,0],"frame":"tool0"}' | poise kin arm6 fk`}},
		{name: "dyn", args: "ROBOT [NAME:=VALUE …] rnea|crba|aba|gravity|com|centroidal|contact|wholebody", group: groupFiles, declare: dynCommand,
			short:   "forces, masses and momentum of rigid bodies, with contacts too: JSON lines in, JSON lines out",
			example: []string{`echo '{"q":[0,0,0,0,0,0,0]}' | poise dyn arm6 gravity`, "poise dyn pony contact < states.jsonl     # docs/dynamics.md", "poise dyn pony wholebody < requests.jsonl     # docs/wholebody.md"}},
		{name: "servo", args: "MODEL invert|torque", group: groupFiles, declare: servoCommand,
			short: "a servo by its model: the goal that gives a torque, the torque that a goal gives; JSON lines in, JSON lines out",
			long: `MODEL is a file with a servo model: YAML as in robot.yaml, ServoModel messages as JSON, a .cpf
file, or NimbRo's configuration (docs/servo-models.md).`,
			example: []string{`echo '{"q":0.3,"v":1,"a":0,"tau":0.5,"voltage":12}' | poise servo my_servo.yaml invert`,
				"poise servo servo_models.cpf torque --model joint11 < states.jsonl"}},
		{name: "ident", args: "LOG | --execute RESOURCE …", group: groupFiles, declare: identCommand,
			short: "the servo models that a log of goals and positions shows, and how far they can be trusted: a JSON object per joint",
			long: `LOG is CSV with the header time,joint,goal,position,voltage,torque and, if known, play_time,
measured_at, kp, pwm, temperature (docs/identification.md); - reads standard input. A model that
is not accepted says why in reasons; that is an answer, too, and the exit code is 0. With --execute
the servos of RESOURCES, limbs or joints of a server's robot, are moved and logged first; what is
in the way of that is told, and Ctrl-C ends it with a ramp.`,
			example: []string{"poise ident log.csv --delay 0.0224 -o models.yaml --plot fit.png",
				"poise ident log.csv --robot pony --joint joint13 --holdout other.csv --json",
				"poise ident --execute head --pre-flight", "poise ident --execute leg1 --mounting fixed --robot real"}},
		{name: "plan", args: "ROBOT [NAME:=VALUE …] REQUEST | --execute REQUEST", group: groupFiles, declare: planCommand,
			short:   "a MotionPlanRequest or MotionSequenceRequest (JSON or YAML) → the planned motion, or why not, as JSON",
			example: []string{"poise plan arm6 examples/plan/lin_slows_down.json --plot lin.png", "poise plan --execute examples/plan/ptp_own_limits.json     # the robot of a server moves"}},
		{name: "motions", args: "list|show|lint|import|export|preview [NAME …|FILE …]", group: groupFiles, declare: motionsCommand, words: motionsVerbs,
			short: "stored motions: list, show and judge them, exchange them with ROS, draw their curves",
			example: []string{"poise motions list --robot arm6", "poise motions lint --dir ~/motions", "poise motions preview nod --plot nod.png",
				"poise motions import wave.json --dir ~/motions     # a FollowJointTrajectoryGoal"}},
		{name: "arbitrate", args: "SCENARIO", group: groupFiles, declare: arbitrateCommand,
			short: "run the arbiter on a script of requests and faults: a JSON line for every change", example: []string{"poise arbitrate examples/arbitrate/yawn.yaml --plot yawn.png"}},
		{name: "sim", args: "ROBOT [NAME:=VALUE …] SCENARIO", group: groupFiles, declare: simCommand,
			short: "physics without a server: a robot with mass acts out a scenario and is judged", example: []string{"poise sim pony stand.yaml --report report.json --seeds 10"}},
		{name: "bag", args: "info FILE | record -O FILE TOPIC …|-a | play FILE [TOPIC …]", group: groupFiles, declare: bagCommand, words: bagVerbs,
			short:   "bag files of ROS 1: what is in one, record one, play one; at ROS_MASTER_URI, or of a Poise server",
			example: []string{"poise bag info run.bag", "poise bag record -O run.bag -a --duration 10", "poise bag play run.bag /cmd_vel --rate 0.5"}},
		{name: "interface", args: "list|show|md5 [TYPE]", group: groupFiles, declare: interfaceCommand, words: []string{"list", "show", "md5"},
			short:   "message, service and action types: their definitions as ROS writes them, and their ROS 1 sums",
			example: []string{"poise interface list", "poise interface show sensor_msgs/JointState --ros1"}},
	}
}
