package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"poise/internal/strictyaml"
	"poise/servo/driver"
)

// Robot is one robot of the list.
type Robot struct {
	Name     string          `yaml:"name"`     // stands before its topics, services, actions and frames
	Driver   string          `yaml:"driver"`   // of the table of drivers; "" in a file is sim
	Section  strictyaml.Node `yaml:"settings"` // of the driver, as they stand in a file, until Read has made Settings of them
	Settings any             // of the driver, as its entry of the table makes them; nil are its defaults
}

// Changed lists the settings of a robot that are not the defaults of its driver.
func (r *Robot) Changed(drivers driver.Table) (changed []string) {
	entry, ok := drivers.Find(r.Driver)
	if !ok || r.Settings == nil {
		return nil
	}
	usual := SettingsKeys(entry)
	for i, k := range keysOf(reflect.ValueOf(r.Settings).Elem(), "", "") {
		if k.Default != usual[i].Default {
			changed = append(changed, k.Path+" "+k.Default)
		}
	}
	return changed
}

// maxRobots bounds the list: one thread steps them all.
const maxRobots = 16

// nameOfRobot is what a robot's name must look like to stand in names of the graph.
var nameOfRobot = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// reserved begin names of the graph that belong to no robot, or to parts of the first.
var reserved = []string{"controllers", "motions", "physics", "rosapi"}

// AllRobots returns the list with what with_real_sim adds.
func (c *Config) AllRobots() []Robot {
	all := slices.Clone(c.Robots)
	if c.RealSim {
		settings := c.Sim
		all = append(all, Robot{Name: "real", Driver: "sim", Settings: &settings})
	}
	return all
}

// readSettings turns the settings of the list into those of its drivers, as far as these
// are known.
func (c *Config) readSettings(drivers driver.Table) (errs []error) {
	for i := range c.Robots {
		r := &c.Robots[i]
		if r.Driver == "" {
			r.Driver = "sim"
		}
		entry, ok := drivers.Find(r.Driver)
		if !ok || r.Settings != nil {
			continue
		}
		r.Settings = entry.Settings()
		if err := r.Section.Decode(r.Settings); err != nil {
			errs = append(errs, err)
		}
		r.Section = strictyaml.Node{}
	}
	return errs
}

// checkRobots finds what is wrong with the list and the settings in it.
func (c *Config) checkRobots(drivers driver.Table) (errs []error) {
	if n := len(c.AllRobots()); n < 1 || n > maxRobots {
		errs = append(errs, problemf("robots", "has %d robots, must have 1 … %d", n, maxRobots))
	}
	first := map[string]string{} // where each name stands
	for i, r := range c.AllRobots() {
		key := fmt.Sprintf("robots[%d]", i)
		nameKey := key + ".name"
		if i == len(c.Robots) {
			nameKey = "with_real_sim: the name"
		}
		other, taken := first[r.Name]
		switch {
		case !nameOfRobot.MatchString(r.Name):
			errs = append(errs, problemf(nameKey, "is %q, must be a letter and up to 63 letters, digits and underscores", r.Name))
		case slices.Contains(reserved, r.Name):
			errs = append(errs, problemf(nameKey, "is %q, which begins names that belong to no robot; also reserved are %s",
				r.Name, strings.Join(slices.DeleteFunc(slices.Clone(reserved), func(s string) bool { return s == r.Name }), ", ")))
		case taken:
			errs = append(errs, problemf(nameKey, "is %q, which %s has already", r.Name, other))
		}
		first[r.Name] = key
		if i < len(c.Robots) { // the settings of the added one are checked as real_sim
			errs = append(errs, r.check(key, drivers)...)
		}
	}
	return errs
}

// check finds what is wrong with a robot's driver and settings.
func (r *Robot) check(key string, drivers driver.Table) (errs []error) {
	entry, ok := drivers.Find(r.Driver)
	if !ok {
		return []error{problemf(key+".driver", "is %q, must be one of %s", r.Driver, drivers.Names())}
	}
	if r.Settings == nil {
		return nil
	}
	if want := reflect.TypeOf(entry.Settings()); reflect.TypeOf(r.Settings) != want {
		return []error{problemf(key+".settings", "are %T, must be %v", r.Settings, want)}
	}
	checkRanges(&errs, key+".settings.", reflect.ValueOf(r.Settings).Elem())
	if c, ok := r.Settings.(interface{ Check() error }); ok {
		if err := c.Check(); err != nil {
			errs = append(errs, problemf(key+".settings", "cannot be: %v", err))
		}
	}
	return errs
}

// defaultsOf returns the default settings of a driver that Poise comes with.
func defaultsOf(name string) any {
	entry, ok := driver.Standard.Find(name)
	if !ok {
		panic("config: there is no driver " + name)
	}
	return entry.Settings()
}
