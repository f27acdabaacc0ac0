package rosbridge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"poise/action"
	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/wire/rosbridge/frame"
)

// cancelService ends the name of the service by which ROS 2 cancels the goals of an action.
const cancelService = "/_action/cancel_goal"

// cancel asks for the end of a goal, also of one that has not got to its server yet: that
// one ends when it does.
func (g *goal) cancel() {
	// an action that is gone has ended its goals
	_, _ = g.session.server.g.CancelGoals(g.name, g.session.client.Node, g.graph, 0)
}

// cancelGoal cancels a goal of the client.
func (ses *session) cancelGoal(m *frame.Message) error {
	id := frame.IDText(m.ID)
	ses.mu.Lock()
	g := ses.goals[id]
	ses.mu.Unlock()
	if g == nil || m.Action != "" && !sameName(g.name, m.Action) {
		return fmt.Errorf("%s: this client has no goal with the id %q that is not over", m.Action, id)
	}
	g.cancel()
	ses.server.audit(ses, Cancel, g.name, id, "done")
	return nil
}

// cancelByService is action_msgs/srv/CancelGoal of an action: without an id and a
// stamp all goals, with a stamp those sent until then. Goals here have names, not
// UUIDs, so one goal cannot be selected by its UUID.
func (ses *session) cancelByService(name string, args []byte) ([]byte, error) {
	uuid, stamp, err := readCancel(args)
	if err != nil {
		return nil, err
	}
	if uuid {
		return []byte(`{"return_code":2,"goals_canceling":[]}`), nil // ERROR_UNKNOWN_GOAL_ID
	}
	n, err := ses.server.g.CancelGoals(name, ses.client.Node, "", stamp)
	if err != nil {
		return nil, err
	}
	ses.server.audit(ses, Cancel, name, "", fmt.Sprintf("%d goals", n))
	return []byte(`{"return_code":0,"goals_canceling":[]}`), nil
}

// readCancel reads a request of action_msgs/srv/CancelGoal: whether it names a goal, and
// the stamp.
func readCancel(args []byte) (uuid bool, stamp action.Time, err error) {
	var q struct {
		GoalInfo struct {
			GoalID struct {
				UUID []int `json:"uuid"`
			} `json:"goal_id"`
			Stamp msgs.Time `json:"stamp"`
		} `json:"goal_info"`
	}
	if text := strings.TrimSpace(string(args)); text != "" && text != "[]" {
		err = json.Unmarshal(args, &q)
	}
	named := slices.ContainsFunc(q.GoalInfo.GoalID.UUID, func(b int) bool { return b != 0 })
	return named, action.Time(q.GoalInfo.Stamp.Nanos()), err
}

// overtake does what a cancel asks for while the worker is busy with what came before it.
// It uses nothing that belongs to the worker.
func (ses *session) overtake(message *incoming) error {
	m, err := message.parse()
	if err != nil {
		return nil // the worker refuses it in its turn
	}
	name, _ := ses.canceled(m)
	if m.Op != frame.CancelActionGoal && name == "" || !message.claimed.CompareAndSwap(false, true) {
		return nil
	}
	defer ses.cancelAgain(m, message.number)
	switch m.Op {
	case frame.CancelActionGoal:
		return ses.cancelGoal(m)
	case frame.CallService:
		return ses.callService(m)
	}
	var id msgs.GoalID
	if err := rosjson.UnmarshalJSON(m.Msg, &id); err != nil {
		return fmt.Errorf("%s: %w", m.Topic, err)
	}
	if _, err := ses.server.g.CancelGoals(name, ses.client.Node, action.ID(id.ID), action.Time(id.Stamp.Nanos())); err != nil {
		return err
	}
	ses.server.audit(ses, Cancel, name, "", "sent "+string(m.Msg))
	return nil
}

// cancelAgain cancels the goals that the client sent before a cancel that overtook them.
// One that names its goals is remembered where they arrive.
func (ses *session) cancelAgain(m *frame.Message, number uint64) {
	name, all := ses.canceled(m)
	if !all {
		return
	}
	var earlier []*goal
	ses.mu.Lock()
	for _, g := range ses.goals {
		if g.number < number && sameName(g.name, name) {
			earlier = append(earlier, g)
		}
	}
	ses.mu.Unlock()
	slices.SortFunc(earlier, func(a, b *goal) int { return cmp.Compare(a.number, b.number) })
	for _, g := range earlier {
		g.cancel()
	}
}

// canceled returns the action that a message to a topic or a service cancels goals of,
// and whether all of them.
func (ses *session) canceled(m *frame.Message) (name string, all bool) {
	switch m.Op {
	case frame.CallService:
		name, _ = strings.CutSuffix(m.Service, cancelService)
		uuid, stamp, err := readCancel(m.Args)
		return name, err == nil && !uuid && stamp == 0
	case frame.Publish:
		name, part := ses.actionOf(m.Topic)
		if part != "/cancel" {
			return "", false
		}
		var id msgs.GoalID
		err := rosjson.UnmarshalJSON(m.Msg, &id)
		return name, err == nil && id.ID == "" && id.Stamp.Nanos() == 0
	}
	return "", false
}
