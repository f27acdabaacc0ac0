package codec

import (
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"poise/msgs"
	"poise/msgs/registry"
)

// maxCost is how many bytes of memory a byte of data may cost: a list without items is
// 4 bytes of data and 24 of memory, and a struct has gaps and fields of the other form.
const maxCost = 12

// TestItemsCostLittle computes the memory of the items of every list.
func TestItemsCostLittle(t *testing.T) {
	worst := 0.0
	for _, typ := range registry.Messages() {
		for _, form := range []msgs.Form{msgs.ROS1, msgs.ROS2} {
			for i := range For(typ, form).root.fields {
				f := &For(typ, form).root.fields[i]
				goType := typ.Go().Field(f.index).Type
				if f.op != opList {
					continue
				}
				cost := float64(goType.Elem().Size()) / float64(f.item.least)
				worst = max(worst, cost)
				if cost > maxCost {
					t.Errorf("%s in %v: an item of %s takes at least %d bytes of data and %d of memory", typ, form, f.name, f.item.least, goType.Elem().Size())
				}
			}
		}
	}
	t.Logf("at most %.1f bytes of memory for a byte of data", worst)
}

// TestHostileDataCostsLittle decodes data with lies about counts, for every type.
func TestHostileDataCostsLittle(t *testing.T) {
	const (
		seed     = 5
		overhead = 4096 // errors, and memory of the test itself
	)
	r := rand.New(rand.NewPCG(seed, 1))
	var before, after runtime.MemStats
	for _, typ := range registry.Messages() {
		for _, form := range []msgs.Form{msgs.ROS1, msgs.ROS2} {
			c, dst := For(typ, form), typ.New()
			for range 20 {
				data := make([]byte, 4+r.IntN(16<<10))
				for range r.IntN(8) {
					count := r.Uint32()
					if r.IntN(4) > 0 {
						count = uint32(r.IntN(len(data)))
					}
					binary.LittleEndian.PutUint32(data[r.IntN(len(data)-3)&^3:], count)
				}
				if form == msgs.ROS2 {
					copy(data, encapsulation[:])
				}
				runtime.ReadMemStats(&before)
				err := c.Decode(data, dst)
				runtime.ReadMemStats(&after)
				if cost := after.TotalAlloc - before.TotalAlloc; cost > maxCost*uint64(len(data))+overhead {
					t.Errorf("seed %d: %s in %v: %d bytes of data cost %d bytes of memory (%v)", seed, typ, form, len(data), cost, err)
				}
			}
		}
	}
}

// TestListsOfNothingAreRefused: their count is not bounded by the data.
func TestListsOfNothingAreRefused(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a list of empty messages was planned")
		}
	}()
	empty, _ := registry.For[msgs.Empty]()
	type lists struct {
		Items []msgs.Empty `json:"items"`
	}
	x := registry.Field{Name: "items", List: registry.Open}
	c := &Codec{typ: empty, form: msgs.ROS1}
	c.list(reflect.TypeFor[lists]().Field(0).Type, &x, c.record(empty))
}
