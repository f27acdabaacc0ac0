package modelfile

import (
	"fmt"
	"strconv"
	"strings"
)

// Write returns the text of a file with some models, as Read reads it. What is zero is left out.
func Write(models []Named) []byte {
	var b strings.Builder
	b.WriteString("# servo models by joint; a robot.yaml takes them by servo_model_files\n")
	for i := range models {
		m := &models[i].Model
		b.WriteString(strconv.Quote(models[i].Name) + ":\n")
		number(&b, "  ", "\n", []field{{"kp", m.Kp}, {"gear", m.Gear}, {"voltage", m.Voltage}, {"effort", m.Effort}, {"ks", m.Saturation}, {"lead", m.Lead},
			{"dead_zone", m.DeadZone}, {"stiffness", m.Stiffness}, {"backlash", m.Backlash}, {"resolution", m.Quantum}})
		b.WriteString("  parameters: {")
		number(&b, "", ", ", []field{{"a0", m.A[0]}, {"a1", m.A[1]}, {"a2", m.A[2]}, {"a4", m.A[4]}, {"a5", m.A[5]}, {"vs", m.Speed}})
		fmt.Fprintf(&b, "a3: %.7g}\n", m.A[3])
		if x := &models[i].Identified; x.Date != "" {
			fmt.Fprintf(&b, "  identified: {date: %q, ", x.Date)
			number(&b, "", ", ", []field{{"voltage", x.Voltage}, {"temperature", x.Temperature}, {"rmse", x.RMSE}})
			fmt.Fprintf(&b, "taken: %q}\n", x.Taken)
		}
	}
	return []byte(b.String())
}

type field struct {
	name  string
	value float64
}

func number(b *strings.Builder, before, after string, fields []field) {
	for _, f := range fields {
		if f.value != 0 {
			fmt.Fprintf(b, "%s%s: %.7g%s", before, f.name, f.value, after)
		}
	}
}
