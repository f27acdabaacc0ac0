package kinematics_test

import (
	"testing"

	"poise/internal/approx"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

func TestHingesAreTheModelTurnedAboutItsAxes(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		hinges := kinematics.Hinges(m)
		first := map[robot.BodyID]bool{}
		for i, b := range m.Bodies()[1:] {
			h, P := hinges[i+1], hinges[b.Parent]
			if b.Kind > robot.Prismatic {
				if h.Turn != 0 {
					t.Errorf("body %d has no axis, but is turned by %v", i+1, h.Turn)
				}
				continue
			}

			// R_PB' = TurnZ(−turn of P)·Rest·TurnZ(turn of B), at the joint's zero
			bank := spatial.Mat3{h.CosBank, -h.SinBank, 0, h.SinBank, h.CosBank, 0, 0, 0, 1}
			tilt := spatial.Mat3{1, 0, 0, 0, h.CosTilt, -h.SinTilt, 0, h.SinTilt, h.CosTilt}
			zero := h.Angle.Zero
			if b.Kind != robot.Prismatic {
				zero -= b.Offset
			}
			got := bank.Mul(tilt).Mul(spatial.TurnZ(zero))
			want := spatial.TurnZ(-P.Turn).Mul(b.Rest.R).Mul(spatial.TurnZ(h.Turn))
			approx.Equal(t, "rotation", got[:], want[:], tolExact)
			approx.Equal(t, "origin", vec(h.P), vec(spatial.TurnZ(-P.Turn).MulVec(b.Rest.P)), tolExact)

			// the first child of a body with an axis needs no bank
			if parent := b.Parent; parent != robot.World && m.Bodies()[parent].Kind <= robot.Prismatic && !first[parent] {
				first[parent] = true
				if h.Banked {
					t.Errorf("body %d is the first on its parent, but banked", i+1)
				}
			}
		}
	})
}
