package edge

import (
	"poise/msgs"
	"poise/planner"
)

// SequenceItems turns the messages of a sequence into requests. One planner plans
// all of it, in the sum of the times that its items allow.
func SequenceItems(msg *msgs.MotionSequenceRequest) (items []planner.Item, pipeline string, seconds float64, why *planner.Refusal) {
	for i := range msg.Items {
		m := &msg.Items[i].Req
		req, why := PlanRequest(m)
		if why == nil && i > 0 && m.PipelineID != pipeline {
			why = planner.Refuse(planner.BadRequest, "pipeline_id %q differs from the first item's %q: one planner plans all of a sequence", m.PipelineID, pipeline)
		}
		if why != nil {
			why.Item = i
			return nil, "", 0, why
		}
		pipeline = m.PipelineID
		seconds += m.AllowedPlanningTime
		items = append(items, planner.Item{Request: req, Radius: msg.Items[i].BlendRadius})
	}
	return items, pipeline, seconds, nil
}
