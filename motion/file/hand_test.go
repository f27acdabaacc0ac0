package file_test

import (
	"strings"
	"testing"

	"poise/motion/file"
)

// TestHandWrittenFilesAreReadAsMeant: what editors and habits bring into a file that
// a person writes is read as it is meant, or refused with its line.
func TestHandWrittenFilesAreReadAsMeant(t *testing.T) {
	row := func(time, position, label string) string {
		return "joints: {a: {}}\npoints:\n  - {time: 0, positions: {a: 0}}\n  - {time: " + time + ", label: " + label + ", positions: {a: " + position + "}}\n"
	}
	for _, tc := range []struct {
		name, text string
		time       float64
		position   float64
		label      string
	}{
		{"leading zeros", row("017", "-00.250", "x"), 17, -0.25, "x"},
		{"an eight is no octal digit", row("08", "09", "x"), 8, 9, "x"},
		{"points without a zero, signs", row("+2.", "-.5", "x"), 2, -0.5, "x"},
		{"groups of digits", row("1_000", "1e-3", "x"), 1000, 0.001, "x"},
		{"another base, written out", row("0x10", "0b1", "x"), 16, 1, "x"},
		{"words of truth", row("1", "0", "yes"), 1, 0, "yes"},
		{"on and off", row("1", "0", "off"), 1, 0, "off"},
		{"a number as a label", row("1", "0", "007"), 1, 0, "007"},
		{"a time of day as a label", row("1", "0", "1:30"), 1, 0, "1:30"},
		{"a date as a label", row("1", "0", "2026-11-15"), 1, 0, "2026-11-15"},
		{"line ends of Windows", strings.ReplaceAll(row("1", "0.5", "x"), "\n", "\r\n"), 1, 0.5, "x"},
		{"byte order mark", "\ufeff" + row("1", "0.5", "x"), 1, 0.5, "x"},
		{"byte order mark and comment", "\ufeff# made by hand\n" + row("1", "0.5", "x"), 1, 0.5, "x"},
		{"aliases", "joints: {a: {}}\npoints:\n  - {time: 0, positions: &rest {a: 0.5}}\n  - {time: 1, label: x, positions: *rest}\n", 1, 0.5, "x"},
		{"no end of line at the end", strings.TrimSuffix(row("1", "2", "x"), "\n"), 1, 2, "x"},
	} {
		d, err := file.Read([]byte(tc.text), "nod")
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if p := d.Points[1]; p.Time != tc.time || p.Positions[0] != tc.position || p.Label != tc.label {
			t.Errorf("%s: %+v", tc.name, p)
		}
		// what is written is read back, also where words look like something else
		out := file.Write(d, []byte(tc.text))
		again, err := file.Read(out, "nod")
		if err != nil || text(t, again) != text(t, d) {
			t.Errorf("%s: %v\n%s", tc.name, err, out)
		}
		if strings.Contains(tc.text, "made by hand") && !strings.HasPrefix(string(out), "# made by hand\n") {
			t.Errorf("%s: the comment is not where it was:\n%s", tc.name, out)
		}
	}
	bomb := "description: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+", ", 8) + "*" + string(c-1) + "]\n"
	}
	for _, tc := range []struct{ name, text, want string }{
		{"minutes and seconds", row("1:30", "0", "x"), `nod:4: points[1].time: "1:30" must be a finite number`},
		{"a decimal comma", "joints: {a: {}}\npoints:\n  - time: 1,5\n", `nod:3: points[0].time: "1,5" must be a finite number`},
		{"quotes around a number", row(`"1"`, "0", "x"), `nod:4: points[1].time: "1" must be a finite number`},
		{"nothing for a number", row("~", "0", "x"), "nod:4: points[1].time: is empty"},
		{"nothing for a label", row("1", "0", "~"), "nod:4: points[1].label: is empty, must be a text"},
		{"a unit", row("1", "30deg", "x"), `nod:4: points[1].positions.a: "30deg" must be a finite number`},
		{"yes for true", "loop: yes\n", `nod:1: loop: "yes" must be true or false`},
		{"tabs", "joints:\n\ta: {}\n", "nod:2: "},
		{"merging", "joints:\n  a: &j {enabled: true}\n  b:\n    <<: *j\n", `nod:4: joints.b: unknown key "<<"`},
		{"a bomb of aliases", bomb, "nod:"},
		{"a second document", row("1", "0", "x") + "---\nloop: true\n", "nod:5: a second document"},
		{"no UTF-8", "description: \xff\xfe\n", "nod:"},
	} {
		if _, err := file.Read([]byte(tc.text), "nod"); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
}
