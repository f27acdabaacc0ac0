package wholebody

import (
	"fmt"
	"slices"
	"strings"
)

// mostLevels is how many levels there can be.
const mostLevels = 16

// Rows is a group of rows, which a level has or has not.
type Rows uint8

// The groups. Those of safety decide on whether an answer is feasible.
const (
	DynamicsRows       Rows = iota // the base's equations of motion, and joints that no servo moves
	ContactRows                    // points that stand do not accelerate
	OrientationRows                // nor do feet on one point tilt
	LimitRows                      // torques, joint accelerations
	FrictionRows                   // forces and moments of contacts
	ZMPRows                        // the zero-moment point inside the polygon
	CaptureRows                    // the capture point inside the polygon
	TorqueRateRows                 // torques near those that joints have
	ZMPTrajectoryRows              // the zero-moment point where it is asked to be
	PostureRows                    // joints that neither a standing nor a moving limb needs
	BaseRows                       // all of the base's acceleration
	BaseHeightTiltRows             // its height, roll and pitch
	BasePlaneRows                  // its x, y and yaw
	LimbRows                       // points of free limbs, and the joints that posture has not
	RegularisationRows             // least torques, accelerations and forces
	numRows
)

var rowsNames = [numRows]string{"dynamics", "contacts", "orientation", "limits", "friction", "zmp", "capture", "torque_rate", "zmp_trajectory",
	"posture", "base", "base_height_tilt", "base_plane", "limbs", "regularisation"}

func (g Rows) String() string { return rowsNames[g] }

func (g Rows) safety() bool { return g <= CaptureRows }

// RowsNamed returns the group of a name.
func RowsNamed(name string) (Rows, bool) {
	i := slices.Index(rowsNames[:], name)
	return Rows(max(i, 0)), i >= 0
}

// RowsNames lists the groups.
func RowsNames() []string { return rowsNames[:] }

// LevelSpec is a level: a name, and which rows it has.
type LevelSpec struct {
	Name string
	Rows []Rows

	weights []float64 // of each group; nil is 1
}

func level(name string, rows ...Rows) LevelSpec { return LevelSpec{Name: name, Rows: rows} }

var orders = [...][]LevelSpec{
	Default: {
		level("dynamics", DynamicsRows), level("contacts", ContactRows), level("orientation", OrientationRows),
		level("limits", LimitRows, FrictionRows, ZMPRows), level("capture", CaptureRows), level("posture", PostureRows),
		level("zmp_trajectory", ZMPTrajectoryRows), level("torque_rate", TorqueRateRows), level("base_height_tilt", BaseHeightTiltRows),
		level("base_plane", BasePlaneRows), level("limbs", LimbRows), level("regularisation", RegularisationRows),
	},
	Seed: {
		level("dynamics", DynamicsRows), level("contacts", ContactRows), level("limits", LimitRows), level("friction", FrictionRows),
		level("zmp", ZMPRows), level("capture", CaptureRows),
		level("zmp_trajectory", ZMPTrajectoryRows), level("base", BaseRows),
		level("torque_rate", TorqueRateRows), level("limbs", LimbRows), level("regularisation", RegularisationRows),
	},
	Weighted: {
		level("contacts", DynamicsRows, ContactRows, OrientationRows),
		level("limits", LimitRows, FrictionRows, ZMPRows, CaptureRows),
		{Name: "weighted", Rows: []Rows{PostureRows, ZMPTrajectoryRows, BaseRows, LimbRows}, weights: []float64{3, 10, 10, 1}},
		level("regularisation", RegularisationRows),
	},
}

// OrderNamed returns an order by its name.
func OrderNamed(name string) (Order, bool) {
	for o := range orders {
		if Order(o).String() == name {
			return Order(o), true
		}
	}
	return Default, false
}

// Levels are those of an order, from the top.
func (o Order) Levels() []LevelSpec { return orders[o] }

// CheckLevels reports why a list of levels cannot be served: dynamics come first and contacts
// before what they limit, regularisation is alone and the last, and no rows are twice.
func CheckLevels(levels []LevelSpec) error {
	if len(levels) == 0 || len(levels) > mostLevels {
		return fmt.Errorf("there are %d levels, want 1 to %d", len(levels), mostLevels)
	}
	var where [numRows]int
	for i, l := range levels {
		if l.Name == "" || strings.ContainsAny(l.Name, " \t\n") {
			return fmt.Errorf("level %d is called %q: it needs a name without spaces", i+1, l.Name)
		}
		if len(l.Rows) == 0 {
			return fmt.Errorf("level %q has no rows", l.Name)
		}
		for _, g := range l.Rows {
			if g >= numRows {
				return fmt.Errorf("level %q has rows %d, there are %d kinds", l.Name, g, numRows)
			}
			if where[g] > 0 {
				return fmt.Errorf("rows %q are in level %q and in %q", g, levels[where[g]-1].Name, l.Name)
			}
			where[g] = i + 1
		}
	}
	last := levels[len(levels)-1]
	switch {
	case where[DynamicsRows] != 1:
		return fmt.Errorf("rows %q are not in the first level", DynamicsRows)
	case where[ContactRows] == 0:
		return fmt.Errorf("rows %q are in no level", ContactRows)
	case len(last.Rows) != 1 || last.Rows[0] != RegularisationRows:
		return fmt.Errorf("the last level is %q, want rows %q alone", last.Name, RegularisationRows)
	case where[BaseRows] > 0 && where[BaseHeightTiltRows]+where[BasePlaneRows] > 0:
		return fmt.Errorf("rows %q cannot be combined with %q or %q, which are their halves", BaseRows, BaseHeightTiltRows, BasePlaneRows)
	}
	return nil
}

// build sets up all levels of a request.
func (s *Solver) build(r *Request) {
	levels := r.Levels
	if levels == nil {
		levels = orders[r.Order]
	}
	s.names, s.safety, s.above = s.names[:0], s.safety[:0], false
	for i := range levels {
		l := &levels[i]
		if !wanted(l, r) {
			continue
		}
		if l.Rows[0] == RegularisationRows {
			s.regularise(l.Name)
			return
		}
		safety := true
		for _, g := range l.Rows {
			safety = safety && g.safety()
		}
		s.levels.Begin()
		s.names, s.safety = append(s.names, l.Name), append(s.safety, safety)
		for k, g := range l.Rows {
			s.scale = 1
			if l.weights != nil {
				s.scale = l.weights[k]
			}
			s.group(g, r)
		}
		s.scale = 1
	}
}

// wanted reports whether a level has anything to do: rows that are only there when asked for make no
// level of their own.
func wanted(l *LevelSpec, r *Request) bool {
	if len(l.Rows) != 1 {
		return true
	}
	switch l.Rows[0] {
	case ZMPTrajectoryRows:
		return r.HasZMP
	case CaptureRows:
		return len(r.Capture) > 0
	case TorqueRateRows:
		return len(r.Slew) > 0
	}
	return true
}

// group adds the rows of a group to the level at hand.
func (s *Solver) group(g Rows, r *Request) {
	switch g {
	case DynamicsRows:
		s.dynamics(r)
	case ContactRows:
		s.contacts()
	case OrientationRows:
		s.orientation()
	case LimitRows:
		s.limits(r)
	case FrictionRows:
		s.friction(r)
	case ZMPRows:
		s.zmpInside(r)
	case CaptureRows:
		s.capture(r)
	case TorqueRateRows:
		s.torqueRate(r)
	case ZMPTrajectoryRows:
		if r.HasZMP {
			s.zmpAt(r)
		}
	case PostureRows:
		s.above = true
		s.posture(r)
	case BaseRows:
		s.base(r, [6]bool{true, true, true, true, true, true})
	case BaseHeightTiltRows:
		s.base(r, [6]bool{2: true, 3: true, 4: true})
	case BasePlaneRows:
		s.base(r, [6]bool{0: true, 1: true, 5: true})
	case LimbRows:
		s.limbs(r)
		for _, j := range r.Joints {
			if (!s.above || s.busy[j.V]) && !s.yields[j.V] {
				s.joint(j.V, j.Acceleration)
			}
		}
	}
}

// checkControl checks what motion control adds to a request.
func (s *Solver) checkControl(r *Request) error {
	if len(r.Levels) > mostLevels {
		return s.refuse("number of levels", -1, float64(len(r.Levels)), "at most 16")
	}
	if r.Feedback != nil && len(r.Feedback) != len(r.Supports) {
		return s.refuse("number of feedbacks", -1, float64(len(r.Feedback)), "one for each support")
	}
	for i := range r.Feedback {
		if x := r.Feedback[i].Linear.Norm() + r.Feedback[i].Angular.Norm(); !finite(x) {
			return s.refuse("feedback of support", i, x, "finite numbers")
		}
	}
	for i, x := range r.Fixed {
		if x.V < 6 || x.V >= s.nv || !finite(x.Acceleration) {
			return s.refuse("fixed joint", i, x.Acceleration, "a finite number, of a velocity behind the base's")
		}
	}
	for i, h := range r.Capture {
		if x := h.Along.X + h.Along.Y + h.Least; !finite(x) {
			return s.refuse("capture row", i, x, "finite numbers")
		}
	}
	if len(r.Reach) > len(s.m.Chains()) {
		return s.refuse("number of reaches", -1, float64(len(r.Reach)), "at most one for each chain")
	}
	for i := range r.Reach {
		reach := &r.Reach[i]
		if sum := reach.Point.Norm() + reach.Along.Norm() + reach.Least; !finite(sum) || reach.Chain < 0 || int(reach.Chain) >= len(s.m.Chains()) {
			return s.refuse("reach", i, sum, "finite numbers of a chain of the robot's")
		}
	}
	if len(r.Capture) > s.mostEdges {
		return s.refuse("number of capture rows", -1, float64(len(r.Capture)), "at most one for each point that carries")
	}
	if len(r.Before) != len(r.Slew) {
		return s.refuse("number of torques before", -1, float64(len(r.Before)), "one for each torque change")
	}
	for i, x := range r.Slew {
		if !(x >= 0) || !finite(r.Before[i]) {
			return s.refuse("torque change", i, x, "0 or more, beside a finite torque before")
		}
	}
	if r.HasCom && !finite(r.Com.Norm()) {
		return s.refuse("acceleration of the centre of mass", -1, r.Com.Norm(), "finite numbers")
	}
	for _, l := range [...]struct {
		name   string
		values []float64
	}{{"armature", r.Armature}, {"lower torque limit", r.MinTorque}, {"lower acceleration limit", r.MinAcceleration}, {"torque before", r.Before}, {"torque change", r.Slew}} {
		if l.values != nil && len(l.values) != s.nv-6 {
			return s.refuse("number of "+l.name+"s", -1, float64(len(l.values)), "one for each velocity behind the base's")
		}
		for i, x := range l.values {
			if x != x {
				return s.refuse(l.name, i, x, "a number")
			}
		}
	}
	return nil
}
