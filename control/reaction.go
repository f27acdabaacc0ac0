package control

// Reaction is what a limb does when something hits it. The numbers are stable: recordings carry
// them.
type Reaction uint8

// The reactions.
const (
	Ignore  Reaction = iota // it goes on
	Hold                    // its motion stands still on its path
	Soften                  // its motion goes on, and its servos give way
	Retreat                 // its motion goes back on its path, and stands
	NumReactions
)

// ReactionNames are their names in files.
var ReactionNames = [NumReactions]string{"ignore", "hold", "soften", "retreat"}

func (r Reaction) String() string {
	if r < NumReactions {
		return ReactionNames[r]
	}
	return "unknown reaction"
}
