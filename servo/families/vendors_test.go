//go:build linux

package families

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"poise/servo/bus"
	"poise/servo/emulator"
)

// dynamixelJudge speaks with servos by the library of ROBOTIS.
const dynamixelJudge = `
import sys, dynamixel_sdk as d
p = d.PortHandler(sys.argv[1]); assert p.openPort() and p.setBaudRate(1000000)
h = d.PacketHandler(2.0)
assert any(h.ping(p, 1) == (1020, 0, 0) for _ in range(50))
assert any(sorted(h.broadcastPing(p)[0]) == [1, 2, 3] for _ in range(10))
assert any(h.write4ByteTxRx(p, 2, 116, 2048) == (0, 0) for _ in range(50)) and any(h.write1ByteTxRx(p, 2, 64, 1) == (0, 0) for _ in range(50))
w = d.GroupSyncWrite(p, h, 116, 4); w.addParam(2, [0x00, 0x09, 0, 0]); assert w.txPacket() == 0
import time; time.sleep(0.1)
g = d.GroupSyncRead(p, h, 132, 4); [g.addParam(i) for i in (1, 2, 3)]
assert any(g.txRxPacket() == 0 for _ in range(50)) # its deadlines are short, and a computer may be busy
assert [g.getData(i, 132, 4) for i in (1, 2, 3)] == [2048, 0x900, 2048]
assert any(h.write1ByteTxRx(p, 2, 7, 9)[1] == 7 for _ in range(50)), "EEPROM is locked while torque is on"
print("accepted")
`

// feetechJudge speaks with servos by the library of Feetech.
const feetechJudge = `
import sys, time, scservo_sdk as f
p = f.PortHandler(sys.argv[1]); assert p.openPort() and p.setBaudRate(1000000)
h = f.PacketHandler(0)
for _ in range(20):
    model, result, error = h.ping(p, 1)
    if result == 0: break
assert (model, result) == (777, 0), (model, result)
for _ in range(20):
    if h.write2ByteTxRx(p, 2, 42, 2300)[0] == 0: break
time.sleep(0.1)
for _ in range(20):
    at, result, error = h.read2ByteTxRx(p, 2, 56)
    if result == 0: break
assert at == 2300, at
print("accepted")
`

// newFeetechJudge speaks with servos by the newer library of Feetech.
const newFeetechJudge = `
import sys, time
from scservo_sdk import PortHandler, GroupSyncRead, sms_sts
p = PortHandler(sys.argv[1]); assert p.openPort() and p.setBaudRate(1000000)
h = sms_sts(p)
def patiently(f, good): # its deadlines are short, and a computer may be busy
    for _ in range(50):
        r = f()
        if good(r): return r
    raise AssertionError(r)
assert patiently(lambda: h.ping(2), lambda r: r[1] == 0)[0] == 777
patiently(lambda: h.WritePosEx(2, 2300, 0, 0), lambda r: r[0] == 0)
time.sleep(0.2)
assert patiently(lambda: h.ReadPos(2), lambda r: r[1] == 0)[0] == 2300
g = GroupSyncRead(h, 56, 4); [g.addParam(i) for i in (1, 2, 3)]
patiently(lambda: g.txRxPacket(), lambda r: r == 0)
assert [g.getData(i, 56, 2) for i in (1, 2, 3)] == [2048, 2300, 2048]
print("accepted")
`

// rustypotJudge speaks with servos by rustypot, of Pollen Robotics.
const rustypotJudge = `
import sys, time, math, rustypot
c = getattr(rustypot, sys.argv[2])(sys.argv[1], 1000000, 1.0)
def patiently(f):
    for _ in range(50):
        try: return f()
        except Exception as e: last = e
    raise last
assert patiently(lambda: c.ping(2))
patiently(lambda: c.write_goal_position(2, 0.0)); patiently(lambda: c.write_torque_enable(2, True))
patiently(lambda: c.sync_write_goal_position([2], [0.3]))
time.sleep(0.2)
at = patiently(lambda: c.sync_read_present_position([1, 2, 3]))
assert abs(at[1] - 0.3) < 0.01 and abs(at[0]) < 0.01 and abs(at[2]) < 0.01, at
print("accepted")
`

// TestVendorsLibrariesTakeEmulatedServosForReal on a pseudo-terminal.
func TestVendorsLibrariesTakeEmulatedServosForReal(t *testing.T) {
	python := filepath.Join(os.Getenv("POISE_CLIENTS"), "venv", "bin", "python")
	newer := filepath.Join(os.Getenv("POISE_CLIENTS"), "ftservo")
	for _, c := range []struct{ name, kind, module, judge, path, class string }{
		{"dynamixel-sdk", "xm430-w350", "dynamixel_sdk", dynamixelJudge, "", ""},
		{"feetech-servo-sdk", "sts3215", "scservo_sdk", feetechJudge, "", ""},
		{"ftservo-python-sdk", "sts3215", "scservo_sdk.sms_sts", newFeetechJudge, newer, ""},
		{"rustypot-sts3215", "sts3215", "rustypot", rustypotJudge, "", "Sts3215PyController"},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := func(script string, args ...string) *exec.Cmd {
				cmd := exec.Command(python, append([]string{"-c", script}, args...)...)
				cmd.Env = append(os.Environ(), "PYTHONPATH="+c.path)
				return cmd
			}
			if call("import "+c.module).Run() != nil {
				if os.Getenv("CI") != "" {
					t.Fatal("python module " + c.module + " is absent")
				}
				t.Skip("python module " + c.module + " is absent: make setup installs it")
			}
			m := turntable(t, 3, c.kind, 2048)
			e, err := emulator.New(emulator.Config{Model: m, World: emulator.NewIdeal(make([]float64, 3)), Families: All, Baud: 1_000_000})
			if err != nil {
				t.Fatal(err)
			}
			p, err := bus.OpenPseudo()
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			go func() { _ = e.Line("", p, 0).Serve() }()
			out, err := call(c.judge, p.Name, c.class).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "accepted") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
