package driver

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"poise/robot/load"
	"poise/servo/sim"
)

// TestEntriesAreComplete: each has a name of its own, a sentence, and settings whose every
// field has a key and an explanation; and its defaults drive a robot.
func TestEntriesAreComplete(t *testing.T) {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range Standard {
		if e.Name == "" || e.Text == "" || seen[e.Name] {
			t.Errorf("%q: %q: a name of its own and a sentence are wanted", e.Name, e.Text)
		}
		seen[e.Name] = true
		if found, ok := Standard.Find(e.Name); !ok || found.Text != e.Text || !slices.Contains(Standard.Names(), e.Name) {
			t.Errorf("%s is not found by its name", e.Name)
		}
		settings := reflect.TypeOf(e.Settings()).Elem()
		for i := range settings.NumField() {
			if f := settings.Field(i); f.Tag.Get("yaml") != "-" && (f.Tag.Get("yaml") == "" || f.Tag.Get("doc") == "") {
				t.Errorf("%s: setting %s has no key or no explanation", e.Name, f.Name)
			}
		}
		d, err := e.New(bot.Model, 0.01, e.Settings())
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		if err := d.Close(); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if _, err := e.New(bot.Model, 0.01, &struct{}{}); err == nil || !strings.Contains(err.Error(), e.Name) {
			t.Errorf("%s takes the settings of another: %v", e.Name, err)
		}
	}
	if _, ok := Standard.Find("no such driver"); ok {
		t.Error("a driver is found that is not there")
	}
}

// TestSettingsAreFresh: who changes settings changes no default.
func TestSettingsAreFresh(t *testing.T) {
	e, _ := Standard.Find("sim")
	e.Settings().(*sim.Settings).Lag = 7
	if e.Settings().(*sim.Settings).Lag != 0 {
		t.Error("the defaults changed")
	}
}

// TestEveryDriverIsHeldToTheContract: the tests of each driver's package use servotest.
func TestEveryDriverIsHeldToTheContract(t *testing.T) {
	type goPackage struct {
		ImportPath                         string
		Imports, TestImports, XTestImports []string
	}
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "poise/servo/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]goPackage{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
	drivers := 0
	for _, name := range all["poise/servo/driver"].Imports {
		if !strings.HasPrefix(name, "poise/servo/") || name == "poise/servo/families" { // these belong to the driver bus
			continue
		}
		drivers++
		if p := all[name]; !slices.Contains(append(p.TestImports, p.XTestImports...), "poise/servo/servotest") {
			t.Errorf("no test of %s uses servo/servotest", name)
		}
	}
	if drivers == 0 {
		t.Error("the table has no drivers")
	}
}
