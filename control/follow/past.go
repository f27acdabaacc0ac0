package follow

import (
	"math"

	"poise/control"
)

// memory is how many ticks back a reading may be and still be judged.
const memory = 64

// past remembers what was asked for in the last ticks: a reading is compared with
// what was asked for when it was taken. While joints are handed over that is the
// command, since the bridge is on its way to the motion.
type past struct {
	q, v [memory][]float64 // by column
	next int
	held int
}

func (h *past) init(n int) {
	block := make([]float64, 2*memory*n)
	for i := range memory {
		h.q[i], block = block[:n:n], block[n:]
		h.v[i], block = block[:n:n], block[n:]
	}
}

func (h *past) clear() { h.next, h.held = 0, 0 }

// push adds what was asked for a tick ago.
func (h *past) push(c *Controller, input *control.Input, handing bool) {
	q, v := h.q[h.next], h.v[h.next]
	for k, j := range c.p.r.Joints {
		if q[k], v[k] = c.q[k], c.v[k]; handing {
			q[k], v[k] = input.Cmd.Q[j], input.Cmd.V[j]
		}
	}
	h.next = (h.next + 1) % memory
	h.held = min(h.held+1, memory)
}

// broken compares the robot with the past, and returns the joint that is furthest
// out of its path tolerance, in tolerances. A reading from before the motion is
// not judged, and neither is the command while it is handed over.
func (h *past) broken(c *Controller, input *control.Input, handing bool) (control.Reason, bool) {
	p := c.p
	worst := control.Because(control.OK)
	if p.r.Commanded && handing {
		return worst, false
	}
	last := (h.next + memory - 1) % memory
	for k, j := range p.r.Joints {
		t := &p.path[k]
		if p.r.Commanded {
			worse(&worst, control.ToleranceBroken, j, distance(input.Cmd.Q[j], h.q[last][k], p.r.Wraps[k]), t.Position)
			worse(&worst, control.ToleranceBroken, j, math.Abs(input.Cmd.V[j]-h.v[last][k]), t.Velocity)
			continue
		}
		age := input.Meas.Age[j]
		if age >= uint32(h.held) {
			continue
		}
		at := (last + memory - int(age)) % memory
		worse(&worst, control.ToleranceBroken, j, distance(input.Meas.Q[j], h.q[at][k], p.r.Wraps[k]), t.Position)
		worse(&worst, control.ToleranceBroken, j, math.Abs(input.Meas.V[j]-h.v[at][k]), t.Velocity)
	}
	worst.At = c.clock.Time()
	return worst, worst.Code != control.OK
}
