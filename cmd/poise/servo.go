package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"poise/problem"
	"poise/servo/model"
	"poise/servo/modelfile"
)

// servoCommand solves the equation of a servo model both ways, line by line.
func servoCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	name := fs.String("model", "", "which model of a file with several, by its `name`")
	fs.BoolVar(&e.json, "json", false, "failures are JSON, as answers are in any case")
	return func(args []string) error {
		if len(args) == 0 {
			return usagef("which servo model? A file: YAML, JSON, .cpf")
		}
		s := new(servoLines)
		op, err := choose([]operation{{"invert", s.invert}, {"torque", s.torque}}, args[1:])
		if err != nil {
			return err
		}
		if s.m, err = readServoModel(args[0], *name); err != nil {
			return err
		}
		return answerLines(e, op)
	}
}

// readServoModel reads a file and takes the model of that name; a file with one needs none.
func readServoModel(file, name string) (*model.Model, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set, err := modelfile.Read(data, file)
	if err != nil {
		return nil, err
	}
	switch {
	case name != "":
		if m, ok := set.Choose(name); ok {
			return &m.Model, nil
		}
		if len(set.Models) == 1 && set.Models[0].Name == "" {
			return nil, usagef("%s is one model without a name: leave --model out", file)
		}
		return nil, fmt.Errorf("%s: %w", file, problem.Unknown("unknown_servo_model", "servo model", name, set.Choices()))
	case len(set.Models) == 1 && set.Default == nil:
		return &set.Models[0].Model, nil
	case len(set.Models) == 0:
		return &set.Default.Model, nil
	}
	return nil, usagef("%s has %d models: choose one by --model (%s)", file, len(set.Choices()), strings.Join(set.Choices(), ", "))
}

type servoLines struct{ m *model.Model }

// invert: {"q","v","a","tau","voltage"} → {"goal","saturated"}.
func (s *servoLines) invert(r *request) (any, error) {
	w := model.Motion{Position: r.scalar("q"), Velocity: r.scalar("v"), Acceleration: r.scalar("a"), Effort: r.scalar("tau")}
	u := r.voltage("voltage", s.m)
	if err := r.done(); err != nil {
		return nil, err
	}
	g := s.m.Invert(w, u)
	return struct {
		Goal      float64 `json:"goal"`
		Saturated bool    `json:"saturated"`
	}{g.Position, g.Saturated}, nil
}

// torque: {"goal","q","v","a","voltage"} → {"tau","band"}.
func (s *servoLines) torque(r *request) (any, error) {
	goal, q, v, a := r.scalar("goal"), r.scalar("q"), r.scalar("v"), r.scalar("a")
	u := r.voltage("voltage", s.m)
	if err := r.done(); err != nil {
		return nil, err
	}
	tau, band := s.m.Torque(goal, q, v, a, u)
	return struct {
		Tau  float64 `json:"tau"`
		Band float64 `json:"band"`
	}{tau, band}, nil
}

// scalar takes one finite number.
func (r *request) scalar(key string) float64 {
	raw, ok := r.value(key)
	if !ok {
		return 0
	}
	return r.number(key, raw)
}

// voltage takes the voltage of the supply; the model's own if the line has none.
func (r *request) voltage(key string, m *model.Model) float64 {
	if m.Voltage > 0 && !r.has(key) {
		return m.Voltage
	}
	before := len(r.errs)
	u := r.scalar(key)
	if len(r.errs) > before {
		return u
	}
	if u <= 0 {
		r.fail("%s is %g V, must be above 0", key, u)
	} else if u > model.MaxVoltage {
		r.fail("%s is %g V, at most %g", key, u, model.MaxVoltage)
	}
	return u
}
