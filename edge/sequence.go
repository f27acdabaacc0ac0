package edge

import (
	"poise/msgs"
	"poise/planner"
	"poise/planner/pipeline"
)

// SequenceQuestion converts the messages of a sequence. One planner plans all of it, in
// the sum of the times that its items allow.
func SequenceQuestion(msg *msgs.MotionSequenceRequest) (q pipeline.Question) {
	q.Sequence = true
	for i := range msg.Items {
		m := &msg.Items[i].Req
		req, why := PlanRequest(m)
		if why == nil && i > 0 && m.PipelineID != q.Pipeline {
			why = planner.Refuse(planner.BadRequest, "pipeline_id %q differs from the first item's %q: one planner plans all of a sequence", m.PipelineID, q.Pipeline)
		}
		if why != nil {
			why.Item = i
			q.Refusal = why
			return q
		}
		q.Pipeline = m.PipelineID
		q.Seconds += m.AllowedPlanningTime
		q.Items = append(q.Items, planner.Item{Request: req, Radius: msg.Items[i].BlendRadius})
	}
	return q
}
