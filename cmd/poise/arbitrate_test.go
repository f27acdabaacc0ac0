package main

import (
	"bufio"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const yawn = `resources: [head, eyes]
policy: last
controllers:
- {name: look_at, needs: [eyes], wants: [head]}
- {name: yawn, needs: [head]}
events:
- {at: 0, request: look_at}
- {at: 20ms, request: yawn}
- {at: 1.5s, release: yawn}
`

type arbitrateLine struct {
	T     *float64           `json:"t"`
	Owner map[string]*string `json:"owner"`
	State map[string]string  `json:"state"`
}

func TestArbitrate(t *testing.T) {
	dir := t.TempDir()
	file := save(t, filepath.Join(dir, "yawn.yaml"), yawn)
	for _, tc := range []struct {
		stdin string
		args  []string
	}{{"", []string{"arbitrate", file}}, {yawn, []string{"arbitrate", "-"}}} {
		out, errs, code := poise(tc.stdin, tc.args...)
		if code != 0 || errs != "" {
			t.Fatalf("%v: code %d, %s", tc.args, code, errs)
		}
		var head []string
		var last arbitrateLine
		for scan := bufio.NewScanner(strings.NewReader(out)); scan.Scan(); {
			last = arbitrateLine{}
			d := json.NewDecoder(strings.NewReader(scan.Text()))
			d.DisallowUnknownFields()
			if err := d.Decode(&last); err != nil || last.T == nil || len(last.Owner) != 2 || len(last.State) != 2 {
				t.Fatalf("%v in %s", err, scan.Text())
			}
			who := "none"
			if last.Owner["head"] != nil {
				who = *last.Owner["head"]
			}
			if len(head) == 0 || head[len(head)-1] != who {
				head = append(head, who)
			}
		}
		if got := strings.Join(head, " "); got != "none look_at yawn look_at" {
			t.Errorf("the head went %s", got)
		}
		if *last.T != 1.5 || last.State["look_at"] != "operational" || last.State["yawn"] != "non-operational" {
			t.Errorf("at the end: %+v", last)
		}
	}
}

func TestArbitrateRefusesABadScenario(t *testing.T) {
	file := save(t, filepath.Join(t.TempDir(), "bad.yaml"), yawn+"- {at: 2s, request: nod}\n- {at: 2s}\n")
	out, errs, code := poise("", "arbitrate", file)
	if code != 1 || out != "" || !strings.Contains(errs, "bad.yaml:10: request: \"nod\" is not one of the controllers") || !strings.Contains(errs, "bad.yaml:11: ") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	for _, args := range [][]string{{"arbitrate"}, {"arbitrate", file, file}, {"arbitrate", file, "--plot", "x.gif"}, {"arbitrate", "--nope", file}} {
		if _, _, code := poise("", args...); code != 2 {
			t.Errorf("%v: code %d, want 2", args, code)
		}
	}
	if _, errs, code := poise("", "arbitrate", "no-such-file.yaml"); code != 1 || errs == "" {
		t.Errorf("a missing file: code %d, %q", code, errs)
	}
}

func TestArbitratePlot(t *testing.T) {
	dir := t.TempDir()
	file := save(t, filepath.Join(dir, "yawn.yaml"), yawn)
	picture := filepath.Join(dir, "out.png")
	if _, errs, code := poise("", "arbitrate", "--plot", picture, file); code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	f, err := os.Open(picture)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	colours := map[[3]uint32]bool{}
	for x := range img.Bounds().Dx() {
		r, g, b, _ := img.At(x, 45).RGBA() // through the first row
		colours[[3]uint32{r, g, b}] = true
	}
	if len(colours) < 3 { // white and two owners
		t.Errorf("%d colours in the row of the head", len(colours))
	}
	// nothing happens at all: still a picture
	quiet := save(t, filepath.Join(dir, "quiet.yaml"), "resources: [head]\n")
	if _, errs, code := poise("", "arbitrate", quiet, "--plot", filepath.Join(dir, "quiet.svg")); code != 0 {
		t.Errorf("code %d, %s", code, errs)
	}
}
