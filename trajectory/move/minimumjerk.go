package move

// MinimumJerk goes from 0 to 1 in a time T, at rest at both ends and before and after them: of all such motions the one whose
// squared jerk is least (Flash and Hogan 1985). It knows no limits; Motion does. Loop-safe.
func MinimumJerk(t, T float64) State {
	s := min(max(t/T, 0), 1)
	return State{
		P: s * s * s * (10 - 15*s + 6*s*s),
		V: 30 * s * s * (1 - s) * (1 - s) / T,
		A: 60 * s * (1 - s) * (1 - 2*s) / (T * T),
	}
}
