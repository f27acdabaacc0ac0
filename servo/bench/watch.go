package bench

import (
	"slices"
	"strings"

	"poise/servo/bus"
)

// Seen is what a servo says now.
type Seen struct {
	ID          int     `json:"id"`
	Model       string  `json:"model"`
	Position    int32   `json:"position"` // steps
	Degrees     float64 `json:"degrees"`  // from its middle
	Voltage     float64 `json:"voltage"`
	Temperature float64 `json:"temperature"`
	Torque      string  `json:"torque"` // on, off, or "" while it is not known
	Fault       string  `json:"fault"`
	Answers     bool    `json:"answers"`
}

// Watcher reads the states of servos again and again.
type Watcher struct {
	c      *Client
	servos []*bus.Servo
}

// Watch returns a Watcher of the states of servos that a scan has found.
func Watch(c *Client, found []Servo) *Watcher {
	w := &Watcher{c: c}
	for _, s := range found {
		if _, m, ok := bus.ModelNamed([]bus.Family{c.family}, s.Model); ok && s.Baud == c.baud {
			w.servos = append(w.servos, &bus.Servo{ID: s.ID, Model: m})
		}
	}
	return w
}

// degree is that of a circle in rad.
const degree = 0.017453292519943295

// Read asks all of them. Nothing is written.
func (w *Watcher) Read() (all []Seen, err error) {
	if err := w.c.Talk.States(w.servos); err != nil {
		return nil, err
	}
	for _, s := range w.servos {
		heard := s.Heard
		if err := w.c.Talk.Slow(s); err != nil {
			heard = false
		}
		now := Seen{ID: s.ID, Model: s.Model.Name, Position: s.State.Position, Voltage: s.State.Voltage, Temperature: s.State.Temperature, Answers: heard,
			Degrees: float64(s.State.Position-s.Model.Centre) * s.Model.Step / degree, Fault: strings.Join(slices.Collect(s.State.Fault.All), ", ")}
		switch s.State.Torque {
		case bus.TorqueOn:
			now.Torque = "on"
		case bus.TorqueOff:
			now.Torque = "off"
		}
		if !heard {
			now.Fault = strings.TrimPrefix(now.Fault+", no answer", ", ")
		}
		all = append(all, now)
	}
	return all, nil
}
