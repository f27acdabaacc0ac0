package frame

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"poise/internal/randmsg"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
)

// TestCBORSaysTheSameAsJSON compares two encoders that know nothing of each other,
// for every type there is, in both forms.
func TestCBORSaysTheSameAsJSON(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 1))
	for i, typ := range registry.Messages() {
		if testing.Short() && i%10 != 0 {
			continue
		}
		for _, form := range []msgs.Form{msgs.ROS1, msgs.ROS2} {
			v := typ.New()
			randmsg.Fill(r, v)
			m, err := ParseCBOR(PublishCBOR("/t", v, form))
			if err != nil || m.Op != Publish || m.Topic != "/t" {
				t.Fatalf("seed %d: %s: %+v, %v", seed, typ, m, err)
			}
			a, b := typ.New(), typ.New()
			if err := rosjson.Unmarshal(m.Msg, a); err != nil {
				t.Fatalf("seed %d: %s in %v: %v\n%s", seed, typ, form, err, m.Msg)
			}
			if err := rosjson.Unmarshal(rosjson.Append(nil, v, form), b); err != nil {
				t.Fatalf("seed %d: %s in %v: %v", seed, typ, form, err)
			}
			if !reflect.DeepEqual(a, b) {
				t.Errorf("seed %d: %s in %v: by CBOR\n%+v\nby JSON\n%+v", seed, typ, form, a, b)
			}
		}
	}
}

func BenchmarkPublishCBOR(b *testing.B) {
	state := &msgs.JointState{Name: make([]string, 20), Position: make([]float64, 20), Velocity: make([]float64, 20), Effort: make([]float64, 20)}
	b.ReportAllocs()
	for b.Loop() {
		PublishCBOR("/joint_states", state, msgs.ROS2)
	}
}
