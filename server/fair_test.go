package server_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/planner"
	"poise/planner/pipeline"
	"poise/server"
	"poise/wire/rosbridge/client"
)

// slowPlanner takes a step of time for each item, and a thousand for a single request. It
// counts them.
type slowPlanner struct{ steps atomic.Int64 }

const slowStep = 10 * time.Millisecond

func (p *slowPlanner) Plan(ctx context.Context, _ *planner.Request, _ []float64) (*planner.Motion, *planner.Refusal) {
	return nil, p.work(ctx, 1000)
}

func (p *slowPlanner) Sequence(ctx context.Context, items []planner.Item, _ []float64) ([]*planner.Motion, *planner.Refusal) {
	return nil, p.work(ctx, len(items))
}

func (p *slowPlanner) work(ctx context.Context, steps int) *planner.Refusal {
	for range steps {
		time.Sleep(slowStep)
		p.steps.Add(1)
		if why := planner.Stopped(ctx); why != nil {
			return why
		}
	}
	return planner.Refuse(planner.NoSolution, "it was slow, and found nothing")
}

// withSlowPlanner runs a test with a slow planner in place of Pilz's.
func withSlowPlanner(t *testing.T, f func(b *bed, slow *slowPlanner)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &slowPlanner{}
		f(start(t, arm, func(o *server.Options) { o.Planners = pipeline.Set{{Name: pipeline.Pilz, Planner: slow}} }), slow)
	})
}

// turn asks for a point-to-point motion of one joint.
func turn(seconds float64, planner string) msgs.MotionPlanRequest {
	return msgs.MotionPlanRequest{PlannerID: "PTP", PipelineID: planner, GroupName: "manipulator", AllowedPlanningTime: seconds,
		MaxVelocityScalingFactor: 1, MaxAccelerationScalingFactor: 1,
		GoalConstraints: []msgs.Constraints{{JointConstraints: []msgs.JointConstraint{{JointName: "joint_1", Position: 0.3}}}}}
}

// turns is a sequence of such motions.
func turns(n int, seconds float64, planner string) (q msgs.MotionSequenceRequest) {
	for range n {
		q.Items = append(q.Items, msgs.MotionSequenceItem{Req: turn(seconds, planner)})
	}
	return q
}

// askFor64 sends 64 slow sequences and does not wait for them.
func (b *bed) askFor64(c *client.Client) {
	b.t.Helper()
	for range 64 {
		go func() {
			_, _ = c.Call(b.ctx, "/plan_sequence_path", client.Text(&msgs.GetMotionSequenceRequest{Request: turns(150, 0, pipeline.Pilz)}, msgs.ROS2))
		}()
	}
	time.Sleep(20 * slowStep)
}

// stands wants the slow planner to rest: no client waits for it any more.
func (p *slowPlanner) stands(b *bed) {
	b.t.Helper()
	time.Sleep(2 * slowStep)
	before := p.steps.Load()
	time.Sleep(100 * slowStep)
	if n := p.steps.Load() - before; n > 0 {
		b.t.Errorf("%d steps of planning for a client that does not wait for them", n)
	}
}

func TestAShortPlanIsAnsweredInItsOwnTimeBeside64LongOnes(t *testing.T) {
	withSlowPlanner(t, func(b *bed, slow *slowPlanner) {
		crowd := b.dial()
		b.askFor64(crowd)
		if slow.steps.Load() == 0 {
			t.Fatal("nothing is planned")
		}
		for range 5 {
			begin := time.Now()
			var plan msgs.GetMotionPlanResponse
			b.call("/plan_kinematic_path", &msgs.GetMotionPlanRequest{MotionPlanRequest: turn(5, "")}, &plan)
			if code := plan.MotionPlanResponse.ErrorCode; code.Val != msgs.ErrorSuccess {
				t.Fatalf("plan_kinematic_path: %d %s", code.Val, code.Message)
			}
			if d := time.Since(begin); d > 2*slowStep {
				t.Errorf("a short plan took %v", d)
			}
			begin = time.Now()
			u, _ := move(b, turn(5, ""), true)
			b.want(u, succeeded)
			if d := time.Since(begin); d > 5*slowStep { // the executive looks at its goals every few milliseconds
				t.Errorf("a short plan by an action took %v", d)
			}
			time.Sleep(20 * slowStep)
		}
	})
}

func TestPlansOfAClientThatHungUpEnd(t *testing.T) {
	withSlowPlanner(t, func(b *bed, slow *slowPlanner) {
		crowd := b.dial()
		b.askFor64(crowd)
		crowd.Close()
		slow.stands(b)

		// goals that are planned, too
		crowd = b.dial()
		for range 3 {
			if _, err := crowd.SendGoal(b.ctx, "/move_action", moveType, client.Text(&msgs.MoveGroupGoal{Request: turn(0, pipeline.Pilz)}, msgs.ROS2)); err != nil {
				t.Fatal(err)
			}
		}
		before := slow.steps.Load()
		time.Sleep(10 * slowStep)
		if slow.steps.Load() == before {
			t.Fatal("no goal is planned")
		}
		crowd.Close()
		slow.stands(b)
	})
}

func TestCancelledGoalsArePlannedNoFurther(t *testing.T) {
	withSlowPlanner(t, func(b *bed, slow *slowPlanner) {
		g := b.send("/move_action", moveType, &msgs.MoveGroupGoal{Request: turn(0, pipeline.Pilz)})
		b.begun(g)
		time.Sleep(10 * slowStep)
		if err := g.Cancel(b.ctx); err != nil {
			t.Fatal(err)
		}
		u, _ := b.end(g)
		b.want(u, cancelled)
		slow.stands(b)
	})
}

func TestDeadlinesOfPlanningAreHonouredInActionsToo(t *testing.T) {
	const allowed = 0.1
	withSlowPlanner(t, func(b *bed, _ *slowPlanner) {
		timedOut := func(what string, begin time.Time, code msgs.MoveItErrorCodes) {
			t.Helper()
			if d := time.Since(begin).Seconds(); code.Val != msgs.ErrorTimedOut || d < allowed || d > allowed+5*slowStep.Seconds() {
				t.Errorf("%s: code %d (%s) after %.3f s", what, code.Val, code.Message, d)
			}
		}
		all := func(what string) {
			t.Helper()
			begin := time.Now()
			_, r := move(b, turn(allowed, pipeline.Pilz), false)
			timedOut(what+"move_action", begin, r.ErrorCode)
			begin = time.Now()
			u, _ := b.end(b.send("/sequence_move_group", "moveit_msgs/action/MoveGroupSequence", &msgs.MoveGroupSequenceGoal{Request: turns(50, allowed/50, pipeline.Pilz)}))
			var s msgs.MoveGroupSequenceResult
			if err := client.Read(u.Result, &s); err != nil {
				t.Fatal(err)
			}
			timedOut(what+"sequence_move_group", begin, s.Response.ErrorCode)
			begin = time.Now()
			var plan msgs.GetMotionPlanResponse
			b.call("/plan_kinematic_path", &msgs.GetMotionPlanRequest{MotionPlanRequest: turn(allowed, pipeline.Pilz)}, &plan)
			timedOut(what+"plan_kinematic_path", begin, plan.MotionPlanResponse.ErrorCode)
		}
		all("")
		b.askFor64(b.c) // of the same client: what follows does not even begin
		all("in the queue, ")
	})
}
