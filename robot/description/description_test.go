package description

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keysOf lists every key of robot.yaml as docs/robot-yaml.md writes it.
func keysOf(t reflect.Type, prefix string) []string {
	var all []string
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("yaml")
		switch {
		case tag == "" || tag == "-" || tag == ",key" || tag == ",line" || tag == ",lines":
			continue
		case tag == ",value":
			return []string{strings.TrimSuffix(prefix, ".")}
		case tag == ",inline":
			return []string{prefix + "JOINT"}
		}
		at := prefix + tag
		ft := f.Type
		if ft == reflect.TypeFor[Leaving]() || ft == reflect.TypeFor[Walking]() || ft == reflect.TypeFor[GetUp]() || ft == reflect.TypeFor[External]() {
			all = append(all, keysOf(ft, at+".")...)
			continue
		}
		if ft.Kind() != reflect.Slice || ft.Elem().Kind() != reflect.Struct {
			all = append(all, at)
			continue
		}
		// a mapping by name, or a list
		switch elem := ft.Elem(); {
		case !hasKey(elem):
			at += "[]"
		case elem.Field(0).Name == "Joint":
			at += ".JOINT"
		case elem.Field(0).Name == "Group":
			at += ".GROUP"
		default:
			at += ".NAME"
		}
		all = append(all, keysOf(ft.Elem(), at+".")...)
	}
	return all
}

func hasKey(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("yaml") == ",key" {
			return true
		}
	}
	return false
}

func TestDocumentationHasEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../docs/robot-yaml.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\|.*\\|.+\\|$").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, m[1])
	}
	want := keysOf(reflect.TypeFor[Description](), "")
	for _, key := range want {
		if !slices.Contains(documented, key) {
			t.Errorf("docs/robot-yaml.md does not explain %s", key)
		}
	}
	for _, key := range documented {
		if !slices.Contains(want, key) {
			t.Errorf("docs/robot-yaml.md explains %s, which is not a key", key)
		}
	}
	if len(want) < 30 {
		t.Errorf("only %d keys found: %v", len(want), want)
	}
}

// example is the one of the documentation.
func example(t testing.TB) []byte {
	text, err := os.ReadFile("../../docs/robot-yaml.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	yaml, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/robot-yaml.md has no example")
	}
	return []byte(yaml)
}

func TestExampleOfTheDocumentationReads(t *testing.T) {
	d, err := Read(example(t), "robot.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "dog" || len(d.Chains) != 2 || d.Chains[1].Name != "right" || d.Chains[1].Contact != "paw" ||
		len(d.Poses[0].Joints) != 4 || *d.Mirror[2].Sign != -1 || d.SafeStates[0].Do != "crouch then off" || d.SafeStates[2].Do != "off" ||
		!d.Servos[2].Reversed || d.Servos[1].Zero != 496 || d.Groups[2].Groups[1] != "right" {
		t.Errorf("read as %+v", d)
	}
	if d.AtKey("base").String() != "robot.yaml:2" || d.AtKey("gravity").Line != 0 {
		t.Errorf("base at %s, gravity at %s", d.AtKey("base"), d.AtKey("gravity"))
	}
}

func TestUnknownKeysAreErrorsWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"name: a\nbase: fixed\nbases: floating\n":           `robot.yaml:3: unknown key "bases"`,
		"chains:\n  leg:\n    base: a\n    tips: b\n":       `robot.yaml:4: chains.leg: unknown key "tips"`,
		"mirror:\n  - {left: a, right: b, signs: 1}\n":      `robot.yaml:2: mirror[0]: unknown key "signs"`,
		"servos:\n  j: {id: 1, offset: 3}\n":                `robot.yaml:2: servos.j: unknown key "offset"`,
		"safe_states:\n  leg: crouch\n":                     `robot.yaml:2: safe_states.leg: is "crouch", must be a mapping`,
		"poses:\n  up: {j: high}\n":                         `robot.yaml:2: poses.up.j: "high" must be a finite number`,
		"transition_acceleration: fast\n":                   `robot.yaml:1: transition_acceleration: "fast" must be a finite number`,
		"groups:\n  g: {resource: maybe}\n":                 `robot.yaml:2: groups.g.resource: "maybe" must be true or false`,
		"contacts:\n  c: {points: [1, 2, 3]}\n":             `robot.yaml:2: contacts.c.points[0]: is "1", must be a list`,
		"servos:\n  j: {id: 1.5}\n":                         `robot.yaml:2: servos.j.id: "1.5" must be an integer`,
		"virtual_joints: {a: b}\n":                          `robot.yaml:1: virtual_joints: is a mapping, must be a list`,
		"name: a\nname: b\n":                                `robot.yaml:2: key "name" comes twice`,
		"chains: {leg: {base: a}}\nchains: {leg: {tip: b}}": `robot.yaml:2: key "chains" comes twice`,
	} {
		if _, err := Read([]byte(text), "robot.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%q): %v, want %s", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(example(f))
	f.Add([]byte("chains: {a: {base: b, tip: c}}\nposes: {p: {j: 1}}\n"))
	f.Add([]byte("mirror: [{middle: a, sign: -1}]\npackages: {a: b}\nxacro_arguments: {n: 1}\n"))
	f.Add([]byte("gravity: [0, 0, -1.62]\noutputs: {eyes: {type: display}}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := Read(data, "robot.yaml"); d == nil || err != nil && err.Error() == "" {
			t.Errorf("description %v with error %v", d, err)
		}
	})
}
