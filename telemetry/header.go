package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"poise/loop"
	"poise/robot"
	"poise/robot/summary"
	"poise/servo"
)

// Header says what a recording is of: enough to make the same loop again, and to
// know when it would not be the same.
type Header struct {
	Build         string        `json:"build"`         // version control's name of the sources
	Go            string        `json:"go"`            // version of the compiler
	Architecture  string        `json:"architecture"`  // hashes agree on one architecture only
	Robot         string        `json:"robot"`         // as it was named
	Model         string        `json:"model"`         // hash of the robot
	Configuration string        `json:"configuration"` // hash of what follows
	Period        float64       `json:"period"`        // s
	Settings      loop.Settings `json:"settings"`
	Controllers   []Controller  `json:"controllers"`
	Joints        int           `json:"joints"`
	Leaves        int           `json:"leaves"`
	Virtual       bool          `json:"virtual"` // its joints can be placed
}

// Controller is a controller as it was registered.
type Controller struct {
	Name        string  `json:"name"`
	Kind        string  `json:"kind"`
	Pending     float32 `json:"pending"`
	Operational float32 `json:"operational"`
	Supports    bool    `json:"supports"` // it knows which feet stand
	Remote      bool    `json:"remote"`   // it stands in for external controllers
}

// NewHeader describes a loop that is about to be recorded. name is how its robot
// was asked for.
func NewHeader(name string, period float64, c *loop.Config) (Header, error) {
	res, err := c.Model.Resources()
	if err != nil {
		return Header{}, err
	}
	if c.Inverter != nil {
		return Header{}, fmt.Errorf("telemetry: a recording could not be replayed: the loop's inverter, a %T, is not chosen by its settings", c.Inverter)
	}
	_, virtual := c.Bus.(servo.Placer)
	h := Header{Build: Build(), Go: runtime.Version(), Architecture: runtime.GOOS + "/" + runtime.GOARCH, Robot: name,
		Period: period, Settings: c.Settings, Controllers: []Controller{}, Joints: len(c.Model.Joints()), Leaves: len(res.Leaves()), Virtual: virtual}
	for _, r := range c.Controllers {
		h.Controllers = append(h.Controllers, Controller{r.Name, r.Kind, r.Pending, r.Operational, r.Supports, r.Remote})
	}
	if h.Model, err = modelHash(c.Model); err != nil {
		return Header{}, err
	}
	h.Configuration, err = h.configurationHash()
	return h, err
}

// modelHash condenses everything that a robot's summary tells: names, limits,
// masses, groups.
func modelHash(m *robot.Model) (string, error) { return hashJSON(summary.New(m, nil)) }

func (h *Header) configurationHash() (string, error) {
	return hashJSON(struct {
		Period      float64
		Settings    loop.Settings
		Controllers []Controller
	}{h.Period, h.Settings, h.Controllers})
}

func hashJSON(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("telemetry: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

// Build names the sources that this program was made of.
func Build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	name := info.Main.Version
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			name = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			name += "+changes"
		}
	}
	if name == "" {
		name = "unknown"
	}
	return name
}
