package identify

import (
	"encoding/json"
	"math"

	"poise/servo/model"
)

// Reasons why a model is not accepted: stable words for programs.
const (
	TooShort     = "too_short"
	Gaps         = "gaps"
	NoVoltage    = "voltage"
	NoTorque     = "torque"
	NoExcitation = "no_excitation"
	Saturated    = "saturated"
	Swapped      = "swapped"
	ClockDrift   = "clock_drift"
	AnotherRobot = "another_robot"
	Delay        = "delay"
	HoldOut      = "holdout"
	Condition    = "condition"
	Uncertain    = "uncertain"
	Negative     = "negative"
	Inconsistent = "inconsistent"
)

// Number is a float64 that JSON writes as null when it is not finite.
type Number float64

// MarshalJSON writes the number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if x := float64(n); math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Parameters are those of the equation, or their standard deviations.
type Parameters struct {
	A0 Number `json:"a0"`
	A1 Number `json:"a1"`
	A2 Number `json:"a2"`
	A3 Number `json:"a3"`
	A4 Number `json:"a4"`
	A5 Number `json:"a5"`
	Vs Number `json:"vs"`
}

// Effect is something that the log shows and the equation does not have.
type Effect struct {
	Name  string `json:"name"`
	Value Number `json:"value"`
	Unit  string `json:"unit"`
	Text  string `json:"text"`
}

// Result is what was found of a joint, at the servo's shaft.
type Result struct {
	Joint      string     `json:"joint"`
	Accepted   bool       `json:"accepted"`
	Reasons    []string   `json:"reasons"` // why not; words of this package
	Parameters Parameters `json:"parameters"`
	Sigma      Parameters `json:"sigma"` // standard deviations, with the correlation of residuals
	Delay      Number     `json:"delay"` // s
	Condition  Number     `json:"condition"`
	RMSE       Number     `json:"rmse"` // of the hold-out, rad

	RMSETorque      Number    `json:"rmse_torque"`     // the same as a torque, N·m
	TrainRMSE       Number    `json:"rmse_fit"`        // of what was fitted, rad
	Autocorrelation [5]Number `json:"autocorrelation"` // of residuals, lags 1 … 5
	DelaySigma      Number    `json:"delay_sigma"`     // s; 0 of a delay that was given
	DelayMeasured   bool      `json:"delay_measured"`  // from the log, not given
	Taken           []string  `json:"taken"`           // parameters of the servo's type, which the load cannot excite
	Effects         []Effect  `json:"effects"`
	Details         []string  `json:"details"` // reasons in words

	Kp          Number `json:"kp"`
	Gear        Number `json:"gear"`
	Voltage     Number `json:"voltage"`     // mean, V
	Temperature Number `json:"temperature"` // mean, °C
	Period      Number `json:"period"`      // s
	Duration    Number `json:"duration"`    // s
	Readings    int    `json:"readings"`
	Lost        int    `json:"lost"`

	Kept bool `json:"kept,omitempty"` // accepted, but a model that predicts better is in use already

	Traces Traces `json:"-"`

	backlash float64 // at the shaft, rad

	// predict returns the error of another model on the hold-out, rad; nil without a fit
	predict func(m *model.Model) float64

	// motion calls back with the positions that the model gives, and their derivatives, on a grid
	// of loadStep that begins at a time; nil without a fit
	motion func(point func(t, q, v, a float64), begin float64)
}

// Traces are curves for a plot, one value for each reading.
type Traces struct {
	Time, Measured, Predicted, Goal []float64
	HoldOut                         float64 // when the part begins that was not fitted; NaN if that is another log
}

func newResult(name string) *Result {
	return &Result{Joint: name, Reasons: []string{}, Taken: []string{}, Effects: []Effect{}, Details: []string{},
		Condition: Number(math.Inf(1)), RMSE: Number(math.NaN()), RMSETorque: Number(math.NaN()), TrainRMSE: Number(math.NaN()),
		Voltage: Number(math.NaN()), Temperature: Number(math.NaN()), Delay: Number(math.NaN())}
}

// Model returns what was found as a servo model.
func (r *Result) Model() model.Model {
	p := &r.Parameters
	return model.Model{Kp: float64(r.Kp), Gear: float64(r.Gear), Voltage: float64(r.Voltage), Lead: float64(r.Delay), DeadZone: model.DefaultDeadZone, Backlash: r.backlash,
		A: [6]float64{float64(p.A0), float64(p.A1), float64(p.A2), float64(p.A3), float64(p.A4), float64(p.A5)}, Speed: float64(p.Vs)}
}

// ErrorOf returns by how much another model errs in the hold-out, rad (RMS); NaN without a fit.
func (r *Result) ErrorOf(m *model.Model) float64 {
	if r.predict == nil {
		return math.NaN()
	}
	return r.predict(m)
}

// Worse reports whether another model predicts the hold-out better than what was found.
func (r *Result) Worse(than *model.Model) bool { return r.ErrorOf(than) < float64(r.RMSE) }
