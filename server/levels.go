package server

import (
	"poise/edge"
	"poise/graph"
	"poise/loop"
	"poise/msgs/poisemsgs"
)

// levels tells how the whole body serves what is asked of it.
type levels struct {
	topic graph.Publisher[poisemsgs.LevelsState]
	words *edge.Levels
}

func newLevels(bot *servedRobot, r *register) levels {
	var names []string
	for i := range bot.seats {
		names = append(names, bot.seats[i].Loop.Name)
	}
	return levels{topic: addTopic[poisemsgs.LevelsState](r, "levels", graph.QoS{}), words: edge.NewLevels(bot.model, names)}
}

func (v *levels) publish(now *loop.Snapshot) {
	v.topic.PublishFunc(func() *poisemsgs.LevelsState { return v.words.Message(now) })
}
