package spline

import "sort"

// Steps holds tracks that jump from key to key, such as which hooves stand: at
// any time the values of the latest key, before the first key those of the
// first.
type Steps struct {
	times  []float64
	values [][]float64
}

// NewSteps returns the tracks (columns of values) that take a row's values at
// its time. One key is enough.
func NewSteps(times []float64, values [][]float64) (*Steps, error) {
	if _, err := check(times, 1, table{"value", values}); err != nil {
		return nil, err
	}
	s := &Steps{times: append([]float64(nil), times...), values: rows(len(values), len(values[0]))}
	for i, row := range values {
		copy(s.values[i], row)
	}
	return s, nil
}

// Key returns the latest key at time t, the first one before it. Loop-safe.
func (s *Steps) Key(t float64) int {
	i := sort.SearchFloat64s(s.times, t)
	if i == len(s.times) || s.times[i] != t {
		i--
	}
	return max(i, 0)
}

// At returns the values at time t. The slice is shared: read only. Loop-safe.
func (s *Steps) At(t float64) []float64 { return s.values[s.Key(t)] }
