package modelfile

import (
	"slices"
	"strings"

	"poise/internal/strictyaml"
	"poise/servo/model"
)

// nimbroModel is a model of the configuration of NimbRo-OP: of
//
//	q_cmd = q + 15/V · 2/P · (km·τ + viscuous·q̇ + sgn(q̇)·(stribeckOne·(1 − β) + stribeckTwo·β))
//
// with β = exp(−|q̇|/0.1) and P = 32 at full effort.
type nimbroModel struct {
	Line     int            `yaml:",line"`
	Lines    map[string]int `yaml:",lines"`
	Km       float64        `yaml:"km"`
	Viscous  float64        `yaml:"viscuous"` // as it is written there
	Stribeck float64        `yaml:"stribeckOne"`
	Static   float64        `yaml:"stribeckTwo"`
}

const (
	nimbroVoltage = 15.0 // V
	nimbroGain    = 32.0 // P at full effort
	nimbroSpeed   = 0.1  // rad/s, of β
)

func (x *nimbroModel) model() model.Model {
	return model.Model{Kp: nimbroGain / 2 / nimbroVoltage, Voltage: nimbroVoltage, Gear: 1, DeadZone: model.DefaultDeadZone,
		A: [6]float64{0, x.Viscous, x.Stribeck, x.Km, x.Static - x.Stribeck, 0}, Speed: nimbroSpeed}
}

func (r *reader) nimbroModel(n strictyaml.Node, name string) {
	var x nimbroModel
	if err := n.Decode(&x); err != nil {
		r.errs = append(r.errs, err)
		return
	}
	keys := map[string]string{"parameters.a1": "viscuous", "parameters.a2": "stribeckOne", "parameters.a3": "km", "parameters.a4": "stribeckTwo"}
	r.add(name, x.Line, x.model(), func(wrong error) int {
		key, _, _ := strings.Cut(wrong.Error(), " ")
		return max(x.Lines[keys[key]], x.Line)
	})
}

// nimbro reads robotcontrol of NimbRo's configuration: the models by type, and the types of
// joints. What else stands there is for others.
func (r *reader) nimbro(n strictyaml.Node) {
	models, ok := n.Value("models")
	if !ok {
		r.fail(n.Line(), "robotcontrol", "has no models")
		return
	}
	r.several(models)
	joints, _ := n.Value("joints")
	names, _ := joints.Mapping()
	for _, name := range names {
		joint, _ := joints.Value(name)
		if keys, _ := joint.Mapping(); !slices.Contains(keys, "type") {
			continue
		}
		kind, _ := joint.Value("type")
		var text string
		if err := kind.Decode(&text); err != nil {
			r.errs = append(r.errs, err)
			continue
		}
		r.set.types = append(r.set.types, [2]string{name, text})
	}
}
