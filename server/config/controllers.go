package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"poise/arbiter"
	"poise/controllers"
	"poise/problem"
)

// Controllers are tuned one by one; those of the table that are not named keep what
// their declarations say.
type Controllers []Controller

// Controller is how one runs.
type Controller struct {
	Name        string  `yaml:",key"`
	Seats       int     `yaml:"seats" doc:"how many run side by side, each on other joints" range:"0 … 32"`
	Pending     float64 `yaml:"pending" doc:"priority while it asks for resources" range:"0 … 1000"`
	Operational float64 `yaml:"operational" doc:"priority once it has them" range:"0 … 1000"`
}

// String prints it as the document has it.
func (c Controller) String() string {
	return fmt.Sprintf("{seats: %d, pending: %g, operational: %g}", c.Seats, c.Pending, c.Operational)
}

// declared is what the table of controllers says.
func declared() (all Controllers) {
	for i := range controllers.Table {
		if d := &controllers.Table[i]; d.Seats > 0 {
			all = append(all, Controller{d.Name, d.Seats, float64(d.Pending), float64(d.Operational)})
		}
	}
	return all
}

// Tuning returns what package controllers makes them with.
func (all Controllers) Tuning() map[string]controllers.Tuning {
	t := make(map[string]controllers.Tuning, len(all))
	for _, c := range all {
		t[c.Name] = controllers.Tuning{Seats: c.Seats, Pending: c.Pending, Operational: c.Operational}
	}
	return t
}

// check reports unknown names and numbers out of range.
func (all Controllers) check() (errs []error) {
	known := declared()
	seats := 0
	for _, c := range all {
		key := "controllers." + c.Name
		if !slices.ContainsFunc(known, func(k Controller) bool { return k.Name == c.Name }) {
			errs = append(errs, problemf(key, "is no controller; known are %s%s", strings.Join(known.names(), ", "), problem.Hint(c.Name, known.names())))
			continue
		}
		if c.Seats == 0 && performs(c.Name) {
			errs = append(errs, problemf(key+".seats", "is 0, must be 1 … 32: it performs the goals of actions"))
		}
		checkRanges(&errs, key+".", reflect.ValueOf(c))
		seats += max(c.Seats, 0)
	}
	if seats > arbiter.MaxClients {
		errs = append(errs, problemf("controllers", "have %d seats, at most %d can be arbitrated", seats, arbiter.MaxClients))
	}
	return errs
}

// performs reports whether a controller has goals of actions to perform.
func performs(name string) bool {
	return slices.ContainsFunc(controllers.Table, func(d controllers.Declaration) bool { return d.Name == name && len(d.Actions) > 0 })
}

func (all Controllers) names() (names []string) {
	for _, c := range all {
		names = append(names, c.Name)
	}
	return names
}

// write prints one controller a line; what the keys mean stands above the first.
func (all Controllers) write(b *strings.Builder, indent string) {
	t := reflect.TypeFor[Controller]()
	for i := range t.NumField() {
		if text := t.Field(i).Tag.Get("doc"); text != "" {
			fmt.Fprintf(b, "%s# %s: %s\n", indent, t.Field(i).Tag.Get("yaml"), text)
		}
	}
	for _, c := range all {
		fmt.Fprintf(b, "%s%s: %s\n", indent, c.Name, c)
	}
}
