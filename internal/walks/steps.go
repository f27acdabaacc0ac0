package walks

// aloft is for how many looks 10 ms apart a foot is in the air before it has made a step.
const aloft = 15

// Steps counts steps by what touches the ground. Feet step by turns: one that bounces makes one step.
type Steps struct {
	Made int
	last int   // foot that made one, from 1 on
	air  []int // looks since each foot touched the ground
}

// Look takes, every 10 ms, which feet touch the ground.
func (s *Steps) Look(touches []bool) {
	if s.air == nil {
		s.air = make([]int, len(touches))
	}
	for i, touch := range touches {
		if !touch {
			s.air[i]++
			continue
		}
		if s.air[i] >= aloft && s.last != i+1 {
			s.Made, s.last = s.Made+1, i+1
		}
		s.air[i] = 0
	}
}
