package strictyaml

import (
	"strings"
	"testing"
)

// TestNumbersAreReadAsPeopleWriteThem: YAML 1.1 has octal numbers, sexagesimal ones,
// words for truth and groups of digits. What people mean is read, the rest refused.
func TestNumbersAreReadAsPeopleWriteThem(t *testing.T) {
	const refused = "must be"
	for _, tc := range []struct {
		text    string
		number  any // what a number reads, or why not
		integer any
		word    string
	}{
		{"017", 17.0, 17, "017"},
		{"-017", -17.0, -17, "-017"},
		{"+017", 17.0, 17, "+017"},
		{"08", 8.0, 8, "08"},
		{"007.50", 7.5, refused, "007.50"},
		{"00", 0.0, 0, "00"},
		{".5", 0.5, refused, ".5"},
		{"5.", 5.0, refused, "5."},
		{"+1", 1.0, 1, "+1"},
		{"1e3", 1000.0, refused, "1e3"},
		{"1_000", 1000.0, 1000, "1_000"},
		{"1_000.5", 1000.5, refused, "1_000.5"},
		{"1__0", refused, refused, "1__0"},
		{"1_", refused, refused, "1_"},
		{"0x10", 16.0, 16, "0x10"},
		{"-0x10", -16.0, -16, "-0x10"},
		{"0o17", 15.0, 15, "0o17"},
		{"0o9", refused, refused, "0o9"},
		{"0b101", 5.0, 5, "0b101"},
		{"0x1p4", refused, refused, "0x1p4"},
		{"1:30", refused, refused, "1:30"},
		{"1,5", refused, refused, "1,5"},
		{"2026-01-02", refused, refused, "2026-01-02"},
		{"yes", refused, refused, "yes"},
		{"on", refused, refused, "on"},
		{"true", refused, refused, "true"},
		{"1e400", refused, refused, "1e400"},
		{"99999999999999999999", 1e20, refused, "99999999999999999999"},
		{"'3'", refused, refused, "3"},
		{"!!str 3", refused, refused, "3"},
		{"!!int '017'", 17.0, 17, "017"},
	} {
		var x struct {
			X float64 `yaml:"x"`
		}
		var n struct {
			X int `yaml:"x"`
		}
		var s struct {
			X string `yaml:"x"`
		}
		doc := []byte("\nx: " + tc.text + "\n")
		judge := func(kind string, got, want any, err error) {
			if want == refused {
				if err == nil || !strings.HasPrefix(err.Error(), "f.yaml:2: x: ") || !strings.Contains(err.Error(), refused) {
					t.Errorf("%s as %s: %v, error %v; want it refused on its line", tc.text, kind, got, err)
				}
			} else if err != nil || got != want {
				t.Errorf("%s as %s: %v, error %v; want %v", tc.text, kind, got, err, want)
			}
		}
		err := Decode(doc, "f.yaml", &x)
		judge("a number", x.X, tc.number, err)
		err = Decode(doc, "f.yaml", &n)
		judge("an integer", n.X, tc.integer, err)
		err = Decode(doc, "f.yaml", &s)
		judge("a text", s.X, tc.word, err)
	}
}

// TestTagsOfOtherKindsAreRefused: a text in base 64 is not the text that stands there.
func TestTagsOfOtherKindsAreRefused(t *testing.T) {
	for _, text := range []string{"name: !!binary aGk=\n", "name: !mine a\n", "count: !mine 3\n", "name: ~\n", "name: null\n"} {
		var f file
		if err := Decode([]byte(text), "f.yaml", &f); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:1: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	// merging into a mapping whose keys are free would make an element named <<
	var f file
	if err := Decode([]byte("limbs:\n  <<: {}\n"), "f.yaml", &f); err == nil || !strings.Contains(err.Error(), "f.yaml:2: limbs: unknown key \"<<\"") {
		t.Errorf("%v", err)
	}
}

// TestMessagesStayShort: a file of something else is not printed as an error.
func TestMessagesStayShort(t *testing.T) {
	long := strings.Repeat("ä", 10_000)
	for _, text := range []string{long, "count: " + long, strings.Repeat("ä", 400) + ": x\n", "name: !mine " + long + "\n"} {
		var f file
		if err := Decode([]byte(text), "f.yaml", &f); err == nil || len(err.Error()) > 500 || !strings.Contains(err.Error(), "ä…") {
			t.Errorf("%.80s…: %.600v", text, err)
		}
	}
}
