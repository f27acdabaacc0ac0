package codec_test

import (
	"math/rand/v2"
	"testing"

	"poise/internal/randmsg"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
)

// FuzzROS1 and FuzzCDR decode anything as any type: nothing panics, and what is taken
// is written as it was read, or in a way that is read the same.
func FuzzROS1(f *testing.F) { fuzz(f, msgs.ROS1) }

// FuzzCDR is FuzzROS1 for the other format, in the forms of all distributions.
func FuzzCDR(f *testing.F) { fuzz(f, msgs.ROS2, msgs.Jazzy, msgs.Humble) }

func fuzz(f *testing.F, forms ...msgs.Form) {
	type kind struct {
		typ  *registry.Type
		form msgs.Form
	}
	var kinds []kind
	r := rand.New(rand.NewPCG(1, 1))
	for _, form := range forms {
		for _, typ := range registry.Messages() {
			if !exists(typ, form) {
				continue
			}
			kinds = append(kinds, kind{typ, form})
			msg := typ.New()
			randmsg.Fill(r, msg)
			f.Add(uint16(len(kinds)-1), codec.For(typ, form).Append(nil, msg))
		}
	}
	f.Fuzz(func(t *testing.T, which uint16, data []byte) {
		k := kinds[int(which)%len(kinds)]
		typ, form := k.typ, k.form
		c := codec.For(typ, form)
		first, second := typ.New(), typ.New()
		if c.Decode(data, first) != nil {
			return
		}
		own := c.Append(nil, first)
		if err := c.Decode(own, second); err != nil {
			t.Fatalf("%s: %x is taken, but not what is written of it, %x: %v", typ, data, own, err)
		}
		if again := c.Append(nil, second); string(again) != string(own) {
			t.Fatalf("%s: %x, then %x", typ, own, again)
		}
		if form == msgs.ROS1 && len(own) != len(data) {
			t.Fatalf("%s: %d bytes are taken and %d written", typ, len(data), len(own))
		}
	})
}
