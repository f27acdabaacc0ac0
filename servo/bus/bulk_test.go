package bus_test

import (
	"sync"
	"testing"

	"poise/servo"
	"poise/servo/bus"
)

// heardPort counts the instructions that are sent through it.
type heardPort struct {
	bus.Port
	mu    *sync.Mutex
	count map[byte]int
}

func (p heardPort) Write(data []byte) (int, error) {
	if len(data) > 4 {
		p.mu.Lock()
		p.count[data[4]]++
		p.mu.Unlock()
	}
	return p.Port.Write(data)
}

// TestMXServosAreReadTogether: one question a cycle, which each answers after the one before it, instead of one to each. One
// that falls silent is then last, so that the others are heard as before; AX servos are asked one by one.
func TestMXServosAreReadTogether(t *testing.T) {
	for _, kind := range []string{"mx-28", "ax-12a"} {
		t.Run(kind, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				const n, period = 4, 0.02
				zero := map[string]float64{"mx-28": 2048, "ax-12a": 512}[kind]
				b := newBed(t, turntable(t, n, kind, zero), 1_000_000, period, false)
				dial, mu, count := b.driver.Dial, &sync.Mutex{}, map[byte]int{}
				b.driver.Dial = func(name string, baud int) (bus.Port, error) {
					port, err := dial(name, baud)
					return heardPort{port, mu, count}, err
				}
				if err := b.driver.Open(t.Context()); err != nil {
					t.Fatal(err)
				}
				defer b.driver.Close()
				r := &rig{bed: b, period: period, dst: servo.NewMeasurement(n, servo.Sensors{}), src: make([]servo.Setpoint, n)}
				run := func(ticks int) (bulk, single int) {
					for range 10 {
						r.tick()
					}
					mu.Lock()
					clear(count)
					mu.Unlock()
					for range ticks {
						r.tick()
					}
					mu.Lock()
					defer mu.Unlock()
					return count[0x92], count[0x02]
				}
				bulk, single := run(50)
				if kind == "ax-12a" {
					if bulk > 0 || single < n*20 {
						t.Errorf("AX servos were asked %d times together, %d times alone", bulk, single)
					}
					return
				}
				if bulk < 20 || single > bulk {
					t.Errorf("MX servos were asked %d times together, %d times alone", bulk, single)
				}
				b.servos.With(func() { b.servos.Servos()[0].Kill(true) })
				run(20)
				for j := 1; j < n; j++ {
					if age := r.dst.Joints[j].Age; age > 3 {
						t.Errorf("with one that is silent, servo %d was heard %d ticks ago", j+1, age)
					}
				}
				if age := r.dst.Joints[0].Age; age < 10 {
					t.Errorf("the silent one was heard %d ticks ago", age)
				}
			})
		})
	}
}
