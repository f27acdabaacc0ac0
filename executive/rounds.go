package executive

import (
	"slices"
	"strings"

	"poise/control"
	"poise/loop"
	"poise/robot"
)

// Round is one round of a request: who asked, who was asked, and what became of it.
type Round struct {
	Number    uint64
	Requester string
	Request   uint32  // id that an external controller gave it, 0 for one inside
	Began     float64 // s, on the clock of the cycle
	Ended     float64 // 0 while it is open
	Outcome   string  // "open", "granted", "denied"
	Why       []Explanation
	Answers   []RoundAnswer
}

// RoundAnswer is what one client said in a round.
type RoundAnswer struct {
	Controller string
	Resources  []string // that it was offered, or was to have from then on
	Answer     string   // "waiting", "confirmed", "quit", "silent"
	After      float64  // s after it was asked
}

// rounds keeps the last rounds.
type rounds struct {
	list  []*roundRecord
	count uint64
	loses []loss // of controllers of the server, in the newest tick that had any
}

// loss is what a controller of the server had to give up, and goes on with.
type loss struct {
	seat       *seat
	left, gone robot.Set
	tick       uint64
}

type roundRecord struct {
	Round
	seat    *seat  // of the requester
	goal    GoalID // of its request, if it is one from outside
	granted uint64 // tick
	refused bool   // before anybody was asked
	answers []roundAnswer
}

type roundAnswer struct {
	RoundAnswer
	seat   *seat
	change bool // of its set, not an offer
	asked  float64
}

// maxRounds is how many rounds are kept, besides more that are open.
const maxRounds = 32

func (r *rounds) time(e *Executive) float64 { return float64(e.robot.tick.Time) * 1e-9 }

// begin notes a request.
func (r *rounds) begin(e *Executive, s *seat, request uint32) *roundRecord {
	r.count++
	x := &roundRecord{seat: s, Round: Round{Number: r.count, Requester: s.title(), Request: request, Began: r.time(e), Outcome: "open"}}
	if len(r.list) >= maxRounds {
		r.forget()
	}
	r.list = append(r.list, x)
	return x
}

// forget drops the oldest round that is over: one that was refused at once if these are more
// than half, so that a flood of them leaves what else happened.
func (r *rounds) forget() {
	refused := 0
	for _, x := range r.list {
		if x.refused {
			refused++
		}
	}
	for i, x := range r.list {
		if x.Outcome != "open" && (x.refused || refused <= maxRounds/2) {
			r.list = slices.Delete(r.list, i, i+1)
			return
		}
	}
}

// refused notes a request that was denied before any client was asked.
func (r *rounds) refused(e *Executive, requester string, request uint32, why []Explanation) {
	if len(requester) > maxTitle {
		requester = strings.ToValidUTF8(requester[:maxTitle], "") + "…"
	}
	x := r.begin(e, &seat{Controller: &Controller{Name: requester}}, request)
	x.Outcome, x.Why, x.Ended, x.refused = "denied", why, x.Began, true
}

// maxTitle is how much is shown of a name that was refused, bytes.
const maxTitle = 64

// open returns the open round of a requester, nil if there is none.
func (r *rounds) open(s *seat) *roundRecord {
	for i := len(r.list) - 1; i >= 0; i-- {
		if x := r.list[i]; x.seat == s && x.Outcome == "open" {
			return x
		}
	}
	return nil
}

// of returns the open round of a request. A requester may ask anew before its last request
// has come to an end.
func (r *rounds) of(j *job) *roundRecord {
	var any *roundRecord
	for i := len(r.list) - 1; i >= 0; i-- {
		switch x := r.list[i]; {
		case x.seat != j.seat || x.Outcome != "open":
		case x.goal == j.id:
			return x
		case any == nil && x.goal.ID == "":
			any = x
		}
	}
	return any
}

// asked notes that an external controller was asked.
func (r *rounds) asked(e *Executive, s *seat, report *loop.Report) {
	requester := s
	if report.From != 0 {
		if requester = e.robot.seatOf(report.Reason.Who); requester == nil {
			return // something was free, and came back to it
		}
	}
	x := r.open(requester)
	if x == nil {
		x = r.begin(e, requester, 0)
	}
	x.answers = append(x.answers, roundAnswer{seat: s, change: report.From != 0, asked: r.time(e),
		RoundAnswer: RoundAnswer{Controller: s.title(), Resources: e.words.Names(report.Set), Answer: "waiting"}})
}

// answer notes what one that was asked said.
func (r *rounds) answer(e *Executive, s *seat, change bool, said string) {
	for i := len(r.list) - 1; i >= 0; i-- {
		for k := range r.list[i].answers {
			if a := &r.list[i].answers[k]; a.seat == s && a.change == change && a.Answer == "waiting" {
				a.Answer, a.After = said, r.time(e)-a.asked
				return
			}
		}
	}
}

// end notes what became of a request, by the word of the cycle.
func (r *rounds) end(e *Executive, j *job, report *loop.Report) {
	round := r.of(j)
	if round == nil {
		if report.Kind != loop.GoalStarted && report.Reason.Code != control.NotGranted {
			return // refused before it asked for anything
		}
		round = r.begin(e, j.seat, 0)
	}
	round.Outcome = "granted"
	if report.Kind == loop.GoalRejected {
		round.Outcome, round.Why = "denied", []Explanation{e.words.Reason(report.Reason, j.seat.title())}
	}
	round.Ended = float64(report.Tick.Time) * 1e-9
	for k := range round.answers {
		if a := &round.answers[k]; a.Answer == "waiting" {
			a.Answer, a.After = "silent", round.Ended-a.asked
		}
	}
	round.granted = report.Tick.N
	for i := range r.loses {
		r.inside(e, round, &r.loses[i])
	}
}

// over ends the round of a request that was denied without a report of the cycle.
func (r *rounds) over(e *Executive, s *seat, goal GoalID, why []Explanation) {
	for _, x := range r.list {
		if x.Outcome == "open" && x.seat == s && (x.goal == goal || x.goal.ID == "") {
			x.Outcome, x.Why, x.Ended = "denied", why, r.time(e)
		}
	}
}

// lost notes that a controller of the server has less than before: its answer is part of
// the round that ends in the same tick.
func (r *rounds) lost(e *Executive, s *seat, gone robot.Set, report *loop.Report) {
	if len(r.loses) > 0 && r.loses[0].tick != report.Tick.N {
		r.loses = r.loses[:0]
	}
	if gone.Empty() {
		return
	}
	l := loss{s, report.Set, gone, report.Tick.N}
	r.loses = append(r.loses, l)
	for _, x := range r.list { // that was told of before
		r.inside(e, x, &l)
	}
}

// inside adds the answer of a controller of the server that lost something to the winner
// of a round.
func (r *rounds) inside(e *Executive, x *roundRecord, l *loss) {
	if x.Outcome == "granted" && l.tick == x.granted && l.seat != x.seat && l.gone.Overlaps(x.seat.owns) {
		x.answers = append(x.answers, roundAnswer{seat: l.seat, change: true, asked: x.Ended,
			RoundAnswer: RoundAnswer{Controller: l.seat.title(), Resources: e.words.Names(l.left), Answer: "confirmed"}})
	}
}

// quit notes that a controller of the server ended, because of what a winner took.
func (r *rounds) quit(e *Executive, report *loop.Report) {
	s, winner := e.robot.seatOf(report.Controller), e.robot.seatOf(report.Reason.Who)
	if s == nil || s.Remote || winner == nil || report.Reason.Code != control.ResourceLost {
		return
	}
	s.owns = robot.Set{}
	for i := len(r.list) - 1; i >= 0; i-- {
		x := r.list[i]
		if x.seat != winner || x.granted != report.Tick.N {
			continue
		}
		at := slices.IndexFunc(x.answers, func(a roundAnswer) bool { return a.seat == s })
		if at < 0 {
			at = len(x.answers)
			x.answers = append(x.answers, roundAnswer{seat: s, change: true, RoundAnswer: RoundAnswer{Controller: s.title()}})
		}
		x.answers[at].Answer = "quit"
		return
	}
}

// Rounds returns the last rounds, oldest first.
func (e *Executive) Rounds() (all []Round) {
	e.catchUp()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.rounds.list {
		round := x.Round
		for _, a := range x.answers {
			round.Answers = append(round.Answers, a.RoundAnswer)
		}
		all = append(all, round)
	}
	return all
}
