package rosbridge

import (
	"poise/stop"
	"poise/wire/rosbridge/frame"
)

// Stops does what a session does first with every frame, without a session's answer.
func Stops(line *stop.Line, data []byte, binary bool) bool {
	ses := newSession(&Server{c: Config{Stop: line, Limits: Limits{}.withDefaults(), Audit: func(Entry) {}}}, Client{})
	taken := ses.stops(frame.ReadHead(data, binary))
	ses.work.Wait()
	return taken
}
