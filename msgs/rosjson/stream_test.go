package rosjson_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"poise/internal/randmsg"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
)

// TestWritingPieceByPieceGivesTheSameText: for every type that there is, in both forms.
func TestWritingPieceByPieceGivesTheSameText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, typ := range registry.Messages() {
		m := typ.New()
		randmsg.Fill(random, m)
		for form := range msgs.NumForms {
			var out bytes.Buffer
			if err := rosjson.Write(&out, m, form); err != nil {
				t.Fatal(err)
			}
			if want := rosjson.Append(nil, m, form); !bytes.Equal(out.Bytes(), want) {
				t.Errorf("%v: %s, want %s", typ, out.Bytes(), want)
			}
		}
	}
}

// pieces notes the largest piece that was written.
type pieces struct{ sum, largest int }

func (p *pieces) Write(b []byte) (int, error) {
	p.sum, p.largest = p.sum+len(b), max(p.largest, len(b))
	return len(b), nil
}

func TestALargeMessageIsWrittenInPieces(t *testing.T) {
	m := msgs.JointTrajectory{Points: make([]msgs.JointTrajectoryPoint, 20000)}
	for i := range m.Points {
		m.Points[i].Positions = make([]float64, 38)
	}
	var p pieces
	if err := rosjson.Write(&p, &m, msgs.ROS2); err != nil || p.sum != len(rosjson.Marshal(&m)) || p.largest > 70<<10 {
		t.Errorf("%d bytes, %d at a time: %v", p.sum, p.largest, err)
	}
	if err := rosjson.Write(broken{}, &m, msgs.ROS2); !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
	if got, numbers := rosjson.Memory(&m), int64(20000*38*8); got < numbers || got > 2*numbers {
		t.Errorf("%d bytes of memory, %d of them numbers", got, numbers)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// TestReadingTakesAFewTimesTheText: bombs are refused before they are built.
func TestReadingTakesAFewTimesTheText(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		dst        any
		most       int // times the size of the text
		refused    bool
	}{
		{"a list of numbers", `{"data":[` + strings.Repeat("1,", 500_000) + `1]}`, &msgs.Float64MultiArray{}, 5, false},
		{"empty objects", `{"items":[` + strings.Repeat("{},", 300_000) + `{}]}`, &msgs.MotionSequenceRequest{}, 50, true},
		{"unknown keys", `{` + strings.Repeat(`"k":0,`, 170_000) + `"k":0}`, &msgs.JointState{}, 1, true},
		{"values of a wrong kind", `{"name":[` + strings.Repeat(`1,`, 500_000) + `1]}`, &msgs.JointState{}, 1, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := rosjson.UnmarshalJSON([]byte(tc.text), tc.dst)
			runtime.ReadMemStats(&after)
			if (err != nil) != tc.refused {
				t.Errorf("error %v", err)
			}
			took := after.TotalAlloc - before.TotalAlloc - uint64(len(tc.text)) // the conversion above
			if took > uint64(tc.most*len(tc.text)) {
				t.Errorf("%.1f times the text, at most %d are allowed", float64(took)/float64(len(tc.text)), tc.most)
			}
		})
	}
}
