//go:build linux

package emulator_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"poise/servo"
	"poise/servo/bus"
	"poise/servo/emulator"
	"poise/servo/families"
	"poise/servo/imu"
	"poise/servo/servotest"
	"poise/spatial"
)

// patience begins every judge. The libraries have short deadlines, and that of Feetech does not discard input before
// it asks: on a busy computer an answer that comes too late is taken for that of the next request, and so on from
// there. line is the open port, if the library shows it.
const patience = `
import time
line = None
def patiently(ask, good=lambda r: True):
    for _ in range(50):
        try:
            r = ask()
            if good(r): return r
        except Exception as e: r = e
        time.sleep(0.02)
        if line: line.reset_input_buffer()
    raise AssertionError(r)
done = lambda r: r == (0, 0)
`

// dynamixelJudge speaks with servos by the library of ROBOTIS.
const dynamixelJudge = patience + `
import sys, dynamixel_sdk as d
p = d.PortHandler(sys.argv[1]); assert p.openPort() and p.setBaudRate(1000000)
line, h = p.ser, d.PacketHandler(2.0)
patiently(lambda: h.ping(p, 1), lambda r: r == (1020, 0, 0))
patiently(lambda: sorted(h.broadcastPing(p)[0]), lambda r: r == [1, 2, 3])
patiently(lambda: h.write4ByteTxRx(p, 2, 116, 2048), done); patiently(lambda: h.write1ByteTxRx(p, 2, 64, 1), done)
w = d.GroupSyncWrite(p, h, 116, 4); w.addParam(2, [0x00, 0x09, 0, 0]); assert w.txPacket() == 0
time.sleep(0.1)
g = d.GroupSyncRead(p, h, 132, 4); [g.addParam(i) for i in (1, 2, 3)]
patiently(g.txRxPacket, lambda r: r == 0)
assert [g.getData(i, 132, 4) for i in (1, 2, 3)] == [2048, 0x900, 2048]
patiently(lambda: h.write1ByteTxRx(p, 2, 7, 9), lambda r: r[1] == 7) # EEPROM is locked while torque is on
at = lambda: patiently(lambda: h.read4ByteTxRx(p, 3, 132), lambda r: r[1:] == (0, 0))[0]
def moves(): # on and on, or stands
    first = at(); time.sleep(0.3); return at() - first
patiently(lambda: h.write1ByteTxRx(p, 3, 11, 1), done) # velocity mode
patiently(lambda: h.write1ByteTxRx(p, 3, 64, 1), done)
assert moves() == 0
patiently(lambda: h.write4ByteTxRx(p, 3, 104, 40), done)
assert moves() > 100
patiently(lambda: h.write4ByteTxRx(p, 3, 104, 5000), lambda r: r == (0, 6)) # beyond its velocity limit
patiently(lambda: h.write1ByteTxRx(p, 3, 98, 5), done); time.sleep(0.3) # bus watchdog, 100 ms
assert patiently(lambda: h.read1ByteTxRx(p, 3, 98), lambda r: r[1:] == (0, 0))[0] == 255 and moves() == 0
patiently(lambda: h.write4ByteTxRx(p, 3, 104, 40), lambda r: r == (0, 4)) # until the watchdog is cleared
patiently(lambda: h.write1ByteTxRx(p, 3, 98, 0), done); patiently(lambda: h.write1ByteTxRx(p, 3, 64, 0), done)
patiently(lambda: h.write1ByteTxRx(p, 3, 11, 5), done) # current-based position
patiently(lambda: h.write2ByteTxRx(p, 3, 102, 0), done); patiently(lambda: h.write1ByteTxRx(p, 3, 64, 1), done)
patiently(lambda: h.write4ByteTxRx(p, 3, 116, at() + 2000), done)
assert moves() == 0 # without a current
patiently(lambda: h.write2ByteTxRx(p, 3, 102, 800), done)
assert moves() > 50
patiently(lambda: h.write2ByteTxRx(p, 3, 102, 2000), lambda r: r == (0, 6)) # beyond its current limit
print("accepted")
`

// feetechJudge speaks with servos by the library of Feetech.
const feetechJudge = patience + `
import sys, scservo_sdk as f
p = f.PortHandler(sys.argv[1]); assert p.openPort() and p.setBaudRate(1000000)
line, h = p.ser, f.PacketHandler(0)
patiently(lambda: h.ping(p, 1), lambda r: r[:2] == (777, 0))
patiently(lambda: h.write2ByteTxRx(p, 2, 42, 2300), lambda r: r[0] == 0)
time.sleep(0.1)
at = patiently(lambda: h.read2ByteTxRx(p, 2, 56), lambda r: r[1] == 0)[0]
assert at == 2300, at
print("accepted")
`

// newFeetechJudge speaks with servos by the newer library of Feetech.
const newFeetechJudge = patience + `
import sys
from scservo_sdk import PortHandler, GroupSyncRead, sms_sts
p = PortHandler(sys.argv[1]); assert p.openPort() and p.setBaudRate(1000000)
line, h = p.ser, sms_sts(p)
assert patiently(lambda: h.ping(2), lambda r: r[1] == 0)[0] == 777
patiently(lambda: h.WritePosEx(2, 2300, 0, 0), lambda r: r[0] == 0)
time.sleep(0.2)
assert patiently(lambda: h.ReadPos(2), lambda r: r[1] == 0)[0] == 2300
g = GroupSyncRead(h, 56, 4); [g.addParam(i) for i in (1, 2, 3)]
patiently(g.txRxPacket, lambda r: r == 0)
assert [g.getData(i, 56, 2) for i in (1, 2, 3)] == [2048, 2300, 2048]
print("accepted")
`

// rustypotJudge speaks with servos by rustypot, of Pollen Robotics.
const rustypotJudge = patience + `
import sys, rustypot
c = getattr(rustypot, sys.argv[2])(sys.argv[1], 1000000, 1.0)
patiently(lambda: c.ping(2), bool)
patiently(lambda: c.write_goal_position(2, 0.0)); patiently(lambda: c.write_torque_enable(2, True))
patiently(lambda: c.sync_write_goal_position([2], [0.3]))
time.sleep(0.2)
at = patiently(lambda: c.sync_read_present_position([1, 2, 3]))
assert abs(at[1] - 0.3) < 0.01 and abs(at[0]) < 0.01 and abs(at[2]) < 0.01, at
print("accepted")
`

// leRobotJudge speaks with servos by the motor buses of LeRobot: what its users do before they have a
// calibration, and what its arms do then.
const leRobotJudge = patience + `
import sys, types, deepdiff
class Absent(types.ModuleType): # what LeRobot imports for learning, which its motor buses do not need
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return type(name, (), {})
for name in ("torch", "numpy", "accelerate", "datasets", "datasets.utils", "datasets.utils.logging"): sys.modules[name] = Absent(name)
from lerobot.motors import Motor, MotorCalibration, MotorNormMode
if sys.argv[2] == "feetech":
    from lerobot.motors.feetech import FeetechMotorsBus as Bus, OperatingMode
else:
    from lerobot.motors.dynamixel import DynamixelMotorsBus as Bus, OperatingMode
names, model = ["j1", "j2", "j3"], sys.argv[3]
bus = Bus(sys.argv[1], {n: Motor(i + 1, model, MotorNormMode.DEGREES) for i, n in enumerate(names)})
bus.default_timeout = 1000
bus._connect(handshake=False); bus.set_timeout()
line = bus.port_handler.ser
patiently(bus._handshake)
patiently(lambda: bus.broadcast_ping(raise_on_error=True), lambda r: r is not None)
patiently(bus.disable_torque)
patiently(bus.configure_motors)
for n in names: patiently(lambda: bus.write("Operating_Mode", n, OperatingMode.POSITION.value))
patiently(bus.set_half_turn_homings)
at = patiently(lambda: bus.sync_read("Present_Position", normalize=False))
assert all(abs(v - 2047) <= 1 for v in at.values()), at
found = patiently(bus.read_calibration)
wanted = {n: MotorCalibration(id=c.id, drive_mode=0, homing_offset=c.homing_offset, range_min=500, range_max=3500) for n, c in found.items()}
for _ in range(5): # an answer that is late on a busy computer is taken for that of the next request
    patiently(lambda: bus.write_calibration(wanted))
    if patiently(lambda: bus.is_calibrated): break
else: raise AssertionError(bus.read_calibration())
patiently(lambda: bus.sync_write("Goal_Position", at, normalize=False))
patiently(bus.enable_torque)
goal = {"j1": 20.0, "j2": -30.0, "j3": 0.0}
patiently(lambda: bus.sync_write("Goal_Position", goal))
for _ in range(100):
    time.sleep(0.05)
    now = patiently(lambda: bus.sync_read("Present_Position"))
    if all(abs(now[n] - goal[n]) < 0.3 for n in names): break
else: raise AssertionError(now)
patiently(bus.disable_torque)
assert all(v == 0 for v in patiently(lambda: bus.sync_read("Torque_Enable", normalize=False)).values())
print("accepted")
`

// herkulexJudge speaks with servos by pyherkulex. It is in Python 2: prints, bytes and their numbers are put
// right before it is run.
const herkulexJudge = patience + `
import sys, re, importlib.util, types, builtins
path = importlib.util.find_spec("pyherkulex").submodule_search_locations[0] + "/herkulex.py"
text = re.sub(r"(?ms)print (\".*?[^\\\\]\"|\w+,\w+)$", r"print(\1)", open(path).read())
text = text.replace("stringtosend.decode('string-escape')", "bytes(data)")
h = types.ModuleType("herkulex")
h.ord = lambda x: x if isinstance(x, int) else builtins.ord(x)
exec(compile(text, path, "exec"), h.__dict__)
h.connect(sys.argv[1], 115200); line = h.serport; line.timeout = 5
assert patiently(lambda: h.get_servo_position(2)) == 512
h.clear_errors(); h.set_servo_position(2, 700, 10, 0x04); time.sleep(0.3)
assert patiently(lambda: h.get_servo_position(2)) == 512, "a goal without torque is ignored"
h.torque_on(2); h.set_servo_position(2, 700, 10, 0x04); time.sleep(0.5)
assert patiently(lambda: h.get_servo_position(2)) == 700
assert patiently(lambda: h.get_servo_position(1)) == 512
assert patiently(lambda: h.get_servo_temperature(2)) == 128
assert abs(patiently(lambda: h.get_servo_torque(2))) <= 1023
h.set_led(2, 0x02); h.brake_on(2); h.set_servo_position(2, 600, 10, 0x04); time.sleep(0.3)
assert patiently(lambda: h.get_servo_position(2)) == 700, "a goal with the brake on is ignored"
h.torque_off(2); h.close()
print("accepted")
`

// oldJudge speaks with servos by the library of ROBOTIS, Protocol 1.0.
const oldJudge = patience + `
import sys, dynamixel_sdk as d
p = d.PortHandler(sys.argv[1]); assert p.openPort() and p.setBaudRate(1000000)
line, h = p.ser, d.PacketHandler(1.0)
model, middle = int(sys.argv[2]), int(sys.argv[3])
patiently(lambda: h.ping(p, 1), lambda r: r == (model, 0, 0))
patiently(lambda: h.write2ByteTxRx(p, 2, 30, middle), done)
patiently(lambda: h.write1ByteTxRx(p, 2, 24, 1), done)
w = d.GroupSyncWrite(p, h, 30, 2); w.addParam(2, [(middle + 60) & 255, (middle + 60) >> 8]); assert w.txPacket() == 0
time.sleep(0.2)
assert patiently(lambda: h.read2ByteTxRx(p, 2, 36), lambda r: r[1] == 0)[0] == middle + 60
assert patiently(lambda: h.read2ByteTxRx(p, 1, 36), lambda r: r[1] == 0)[0] == middle
print("accepted")
`

// witJudge reads an inertial unit by the package witmotion: its packets one by one, with values that are known, then
// the unit on its line.
const witJudge = `
import sys, time, witmotion
from witmotion import protocol
sent, want = bytes.fromhex(sys.argv[2]), [float(v) for v in sys.argv[3].split(",")]
def near(got, wanted, within): assert len(got) == len(wanted) and all(abs(g - w) < within for g, w in zip(got, wanted)), (got, wanted)
assert len(sent) == 33
for k, code in enumerate((0x51, 0x52, 0x53)):
    p = sent[11 * k:11 * k + 11]; cls = protocol.receive_messages[code]
    assert p[0] == 0x55 and p[1] == cls.code == code and p[10] == cls.compute_checksum(p[2:10])
    m = cls.parse(p[2:10])
    if code == 0x51: near([v * 9.80665 / protocol.G for v in m.a], want[0:3], 0.005)
    if code == 0x52: near(m.w, want[3:6], 0.07)
    if code == 0x53: near((m.roll, m.pitch, m.yaw), want[6:9], 0.006)
for _ in range(20):
    unit = witmotion.IMU(sys.argv[1], 9600) # its thread may begin before it is complete, and end
    for _ in range(50):
        time.sleep(0.1)
        if unit.last_yaw is not None or not unit.rxthread.is_alive(): break
    got = unit.get_angle(), unit.get_acceleration(), unit.get_angular_velocity()
    unit.close(); unit.ser.close()
    if got[0][2] is not None: break
near(got[0], want[6:9], 0.006)
near([v * 9.80665 / protocol.G for v in got[1]], want[0:3], 0.005)
near(got[2], (0, 0, 0), 0.01)
print("accepted")
`

// isThere ends well if Python has a module.
const isThere = "import sys, importlib.util\nsys.exit(importlib.util.find_spec(sys.argv[1]) is None)"

// TestVendorsLibrariesTakeEmulatedServosForReal on a pseudo-terminal.
func TestVendorsLibrariesTakeEmulatedServosForReal(t *testing.T) {
	for _, c := range []struct {
		name, kind, module, judge, folder string
		args                              []string
	}{
		{"dynamixel-sdk", "xm430-w350", "dynamixel_sdk", dynamixelJudge, "", nil},
		{"feetech-servo-sdk", "sts3215", "scservo_sdk", feetechJudge, "", nil},
		{"ftservo-python-sdk", "sts3215", "scservo_sdk.sms_sts", newFeetechJudge, "ftservo", nil},
		{"rustypot-sts3215", "sts3215", "rustypot", rustypotJudge, "", []string{"Sts3215PyController"}},
		{"lerobot-feetech", "sts3215", "lerobot.motors", leRobotJudge, "lerobot", []string{"feetech", "sts3215"}},
		{"lerobot-dynamixel", "xm430-w350", "lerobot.motors", leRobotJudge, "lerobot", []string{"dynamixel", "xm430-w350"}},
		{"dynamixel-sdk-1.0-ax", "ax-12a", "dynamixel_sdk", oldJudge, "", []string{"12", "512"}},
		{"dynamixel-sdk-1.0-mx", "mx-28", "dynamixel_sdk", oldJudge, "", []string{"29", "2048"}},
		{"pyherkulex", "drs-0201", "pyherkulex", herkulexJudge, "pyherkulex", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			zero, baud := 2048.0, 1_000_000
			switch c.kind {
			case "drs-0201":
				zero, baud = 512, 115200
			case "ax-12a":
				zero = 512
			}
			var servos strings.Builder
			for id := 1; id <= 3; id++ {
				fmt.Fprintf(&servos, "  j%d: {id: %d, type: %s, zero: %g}\n", id, id, c.kind, zero)
			}
			e, err := emulator.New(emulator.Config{Model: servotest.Turntable(t, 3, "servos:\n"+servos.String()), World: emulator.NewIdeal(make([]float64, 3)), Families: families.All, Baud: baud})
			if err != nil {
				t.Fatal(err)
			}
			judged(t, c.module, c.folder, c.judge, c.args, func(p *bus.Pseudo) error { return e.Line("", p, 0).Serve() })
		})
	}
}

// judged lets a library of others speak on a pseudo-terminal.
func judged(t *testing.T, module, folder, judge string, args []string, serve func(p *bus.Pseudo) error) {
	t.Helper()
	clients := os.Getenv("POISE_CLIENTS")
	call := func(script string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(clients, "venv", "bin", "python"), append([]string{"-c", script}, args...)...)
		cmd.Env = append(os.Environ(), "PYTHONPATH=", "PYTHONDONTWRITEBYTECODE=1")
		if folder != "" {
			cmd.Env = append(cmd.Env, "PYTHONPATH="+filepath.Join(clients, folder))
		}
		return cmd
	}
	if top, _, _ := strings.Cut(module, ".motors"); call(isThere, top).Run() != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("python module " + module + " is absent")
		}
		t.Skip("absent: python module " + module + ", which make setup installs")
	}
	p, err := bus.OpenPseudo()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	go func() { _ = serve(p) }()
	out, err := call(judge, append([]string{p.Name}, args...)...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "accepted") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAnotherLibraryReadsTheInertialUnit: WitMotion's manuals have formulas, and no packet with its values; the package
// witmotion is by others, from the same manuals.
func TestAnotherLibraryReadsTheInertialUnit(t *testing.T) {
	kind, _ := imu.Named("wit")
	tilt := spatial.FromRPY(0.3, -0.2, 1)
	m := servo.Inertial{Orientation: tilt.Quat(), Acceleration: tilt.TMulVec(spatial.Vec3{Z: 9.80665}), Rate: spatial.Vec3{X: 1, Y: -2, Z: 0.5}}
	const degree = math.Pi / 180
	want := fmt.Sprintf("%g,%g,%g,%g,%g,%g,%g,%g,%g", m.Acceleration.X, m.Acceleration.Y, m.Acceleration.Z,
		1/degree, -2/degree, 0.5/degree, 0.3/degree, -0.2/degree, 1/degree)
	world := emulator.NewIdeal(make([]float64, 1))
	world.Tilt(m.Orientation)
	bot := servotest.Turntable(t, 1, "servos: {j1: {id: 1, type: sts3215, zero: 2048}}\nimu: {port: unit, type: wit}\n")
	e, err := emulator.New(emulator.Config{Model: bot, World: world, Families: families.All})
	if err != nil {
		t.Fatal(err)
	}
	judged(t, "witmotion", "witmotion", witJudge, []string{hex.EncodeToString(kind.Append(nil, 0, &m)), want},
		func(p *bus.Pseudo) error { return e.Unit(p, kind).Serve() })
}
