package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"poise/kinematics"
	"poise/motion/file"
	"poise/robot/load"
)

const root = "../.."

// everything is all that the scores say, made once for all tests.
var everything = sync.OnceValues(func() ([]written, error) { return write(nil) })

// TestFilesAndPageAgreeWithScores: what is shipped is what the scores say, and so is
// the page; every motion has a picture, and none is too large for a page.
func TestFilesAndPageAgreeWithScores(t *testing.T) {
	const mostBytes = 60_000
	all, err := everything()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range all {
		name := filepath.Join(root, "motion", "shipped", w.robot, w.name+file.Extension)
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, file.Write(w.document, nil)) {
			t.Errorf("%s is not what its score says (%v): go run ./tools/motions", name, err)
		}
		picture := filepath.Join(root, "docs", "images", "motions", w.robot+"_"+w.name+".png")
		if info, err := os.Stat(picture); err != nil || info.Size() > mostBytes {
			t.Errorf("%s: %v, want at most %d bytes", picture, err, mostBytes)
		}
	}
	for _, of := range scores {
		files, _ := filepath.Glob(filepath.Join(root, "motion", "shipped", of.robot, "*"+file.Extension))
		if len(files) != len(of.all) {
			t.Errorf("%s: %d files, %d scores", of.robot, len(files), len(of.all))
		}
	}
	var page bytes.Buffer
	if err := printPage(&page, all); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(root, "docs", "library.md")); err != nil || !bytes.Equal(got, page.Bytes()) {
		t.Errorf("docs/library.md is not what the scores say (%v): go run ./tools/motions -page > docs/library.md", err)
	}
}

// TestStandingHoovesStay: within a millimetre, between rows too, as the page says.
func TestStandingHoovesStay(t *testing.T) {
	const farthest = 0.001 // m
	all, err := everything()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		w := &all[i]
		if testing.Short() && i%4 != 0 {
			continue
		}
		slipped := 0.0
		if err := w.play(int(w.document.Duration()/lookPeriod), func(_ int, m *moment) { slipped = max(slipped, m.slip) }); err != nil {
			t.Fatal(err)
		}
		if slipped > farthest {
			t.Errorf("%s: a hoof moves by %.4f m", w.name, slipped)
		}
	}
}

// TestToolStaysUpright: where the tracks of a limb do not turn it, it is not turned,
// between rows either.
func TestToolStaysUpright(t *testing.T) {
	const tilt = 3 * rowTolerance // three axes lean it
	all, err := write([]string{"pick_and_place"})
	if err != nil {
		t.Fatal(err)
	}
	w := &all[0]
	data := kinematics.NewData(w.model)
	frame, _ := w.model.Frame("tcp")
	tcp, q := data.At(frame), make([]float64, w.model.NumQ())
	lowest := math.Inf(1)
	err = w.play(int(w.document.Duration()/lookPeriod), func(_ int, m *moment) {
		for j := range m.joints {
			q[w.model.Joints()[j].Q] = m.joints[j]
		}
		data.UpdatePosition(q)
		X := data.Pose(tcp)
		if angle := math.Acos(min(-X.R.Col(2).Z, 1)); angle > tilt {
			t.Errorf("at %.2f s the tool leans by %.4f rad", m.time, angle)
		}
		lowest = min(lowest, X.P.Z)
	})
	if err != nil || lowest < 0.02 || lowest > 0.06 {
		t.Errorf("the tool comes down to %.3f m (%v), want a thing on the floor", lowest, err)
	}
}

// TestTracksRestWhereTheyTurn: through every key, never beyond two neighbours, at
// rest where they turn round and on holds.
func TestTracksRestWhereTheyTurn(t *testing.T) {
	keys := []float64{0, 0, 0.4, 1, 0.8, 3, 1.4, 3, 1.8, -1}
	tr, err := newTrack(keys)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(keys); i += 2 {
		if got := tr.at(keys[i]); math.Abs(got-keys[i+1]) > 1e-12 {
			t.Errorf("at %g s: %g, want %g", keys[i], got, keys[i+1])
		}
	}
	for time := 0.0; time <= 1.8; time += 0.01 {
		i := 0
		for keys[i+2] < time {
			i += 2
		}
		low, high := min(keys[i+1], keys[i+3]), max(keys[i+1], keys[i+3])
		if q := tr.at(time); q < low-1e-12 || q > high+1e-12 {
			t.Errorf("at %g s: %g is not between %g and %g", time, q, low, high)
		}
	}
	if q := tr.at(1.1); q != 3 {
		t.Errorf("a hold moves: %g", q)
	}
}

// TestBadScoresAreRefused: each with the word that is wrong.
func TestBadScoresAreRefused(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStage(bot.Model)
	if err != nil {
		t.Fatal(err)
	}
	for rule, x := range map[string]struct {
		tracks tracks
		want   string
	}{
		"unknown joint":      {tracks{"joint99": {0, 0, 1, 1}}, "joint99"},
		"unknown axis":       {tracks{"leg1 up": {0, 0, 1, 1}}, "leg1 up"},
		"half a pair":        {tracks{"joint51": {0, 0, 1}}, "joint51"},
		"times do not rise":  {tracks{"joint51": {0, 0, 1, 1, 1, 2}}, "joint51"},
		"hoof out of reach":  {tracks{"leg1 x": {0, 0, 1, 0.5}}, "leg1 cannot get there"},
		"body above its leg": {tracks{"body z": {0, 0, 1, 0.05}}, "cannot get there"},
	} {
		if _, err := s.perform(&score{name: "bad", start: "stand", tracks: x.tracks}); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", rule, err, x.want)
		}
	}
}

// TestFramesShowBothEnds: as many as asked for, first and last in the start pose, the
// base above its hooves.
func TestFramesShowBothEnds(t *testing.T) {
	all, err := write([]string{"nod"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := printFrames(&out, all, 3); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{`"time":0,`, `"time":1.5,`, `"time":3,`, fmt.Sprintf(`"joint51":%v`, neck), `"robot":"pony","name":"nod"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}
