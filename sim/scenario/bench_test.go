package scenario

import (
	"testing"

	"poise/motion/library"
	"poise/motion/shipped"
	"poise/robot/load"
)

// BenchmarkCycle is a second of the pony that plays a motion, with the cycle that ships at 1 ms
// around it: its time is the inverse of how much faster than real time that is.
func BenchmarkCycle(b *testing.B) {
	bot := loaded(b, "pony", load.Options{})
	bot.Motions = library.Open("", shipped.Of("pony"))
	p := prepare(b, bot, "duration: 1\nperiod: 0.001\nmodel: {}\ndo: [{at: 0, play: nod}]")
	for b.Loop() {
		if _, err := p.Run(1, Watch{}); err != nil {
			b.Fatal(err)
		}
	}
}
