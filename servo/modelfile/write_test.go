package modelfile

import (
	"reflect"
	"testing"

	"poise/servo/model"
)

// What Write writes Read reads, whatever the names are.
func TestWrittenModelsAreRead(t *testing.T) {
	want := []Named{
		{Name: "joint 1: \"left\"", Model: model.Model{Kp: 100, Gear: 1.54, Voltage: 11.9, Saturation: 37, Lead: 0.0224, DeadZone: 0.03, Stiffness: 5, Backlash: 0.004, Quantum: 0.005672,
			A: [6]float64{2.1, 54, 12.5, 235, 3, -1}, Speed: 0.15},
			Identified: Identified{Date: "2026-01-02T03:04:05Z", Voltage: 11.9, Temperature: 41.5, RMSE: 0.0017, Taken: "a0 a3"}},
		{Name: "joint2", Model: model.Model{Kp: 1, DeadZone: 0.02, A: [6]float64{3: 1e-3}}},
	}
	text := Write(want)
	set, err := Read(text, "models.yaml")
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for i := range set.Models {
		set.Models[i].Pos = want[i].Pos
	}
	if !reflect.DeepEqual(set.Models, want) {
		t.Errorf("read %+v, want %+v", set.Models, want)
	}
}
