package rosbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
	"poise/stop"
	"poise/wire/rosbridge/frame"
)

// mostStops is how many stops of a client wait for the robot to stand before they are
// answered; those beyond are answered at once. What is asked of another server is waited
// for a little longer: only its answer tells that it was reached.
const (
	mostStops       = 64
	mostRemoteStops = 1024
)

// stops stops the robots if a frame is a call of their stop, ahead of every limit, and
// reports whether it was. It waits for nothing.
func (ses *session) stops(head *frame.Head) bool {
	if head.Op != frame.CallService || head.Doubtful {
		return false
	}
	target, ok := ses.server.c.Stop.Service(head.Service)
	if !ok {
		return false
	}
	category, note := readCategory(head)
	asked := target.Stop(ses.client.Node, category)
	if n, answer := ses.stopping.Add(1), asked.Set(); n > mostRemoteStops || n > mostStops && answer.Success {
		ses.stopping.Add(-1)
		answer.Text = note + answer.Text
		ses.answerStop(head, answer)
		return true
	}
	ses.work.Go(func() {
		defer ses.stopping.Add(-1)
		ctx, cancel := context.WithTimeout(ses.ctx, stop.Patience)
		defer cancel()
		answer := asked.Over(ctx)
		answer.Text = note + answer.Text
		ses.answerStop(head, answer)
		ses.server.audit(ses, Call, head.Service, frame.IDText(head.ID), answer.Text)
	})
	return true
}

// stopsAhead does the same with a message that has come and is not read yet.
func (ses *session) stopsAhead(data []byte, binary bool) bool {
	head := frame.SketchHead(data, binary)
	return head.Op != frame.Fragment && ses.stops(head)
}

func (ses *session) answerStop(head *frame.Head, a stop.Answer) {
	values := rosjson.Append(nil, &poisemsgs.StopResponse{Success: a.Success, Message: a.Text}, msgs.ROS2)
	ses.answerCall(head.Message(), values, nil)
}

// readCategory reads the category of a stop, as an object or as a list. What is not
// exactly 0, 1 or 2 means the mildest, with a note that says so: nothing that is sent by
// mistake takes the torque of a robot.
func readCategory(head *frame.Head) (category uint8, note string) {
	unread := fmt.Sprintf("the arguments cannot be read, and category %d was taken; ", stop.Mildest)
	none := fmt.Sprintf("no category was given, and %d was taken; ", stop.Mildest)
	args, short := head.ShortArgs()
	var object map[string]json.RawMessage
	var list []json.RawMessage
	var value []byte
	switch {
	case !short:
		return stop.Mildest, unread
	case len(args) == 0, bytes.Equal(args, []byte("null")):
		return stop.Mildest, none
	case json.Unmarshal(args, &object) == nil:
		if value = object["category"]; len(object) > 1 || len(object) == 1 && value == nil || members(args) > 1 {
			return stop.Mildest, unread
		}
	case json.Unmarshal(args, &list) == nil && len(list) <= 1:
		if len(list) == 1 {
			value = list[0]
		}
	default:
		return stop.Mildest, unread
	}
	if value == nil || bytes.Equal(value, []byte("null")) {
		return stop.Mildest, none
	}
	// by the letter: 1e-400 is no 0
	switch digits, zeros, _ := strings.Cut(string(bytes.TrimSpace(value)), "."); {
	case strings.Trim(zeros, "0") != "":
	case digits == "0", digits == "1", digits == "2":
		return digits[0] - '0', ""
	}
	return stop.Mildest, fmt.Sprintf("category %s is unknown (0, 1, 2) and was taken as %d; ", clip(string(value)), stop.Mildest)
}

// members counts the members of an object, those that come twice as two.
func members(object []byte) (n int) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil { // the brace
		return 0
	}
	for d.More() {
		var value json.RawMessage
		if _, err := d.Token(); err != nil || d.Decode(&value) != nil {
			return n
		}
		n++
	}
	return n
}
