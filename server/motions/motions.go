package motions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"strings"

	"poise/edge"
	"poise/executive"
	"poise/graph"
	"poise/motion"
	"poise/motion/file"
	"poise/motion/library"
	"poise/motion/lint"
	"poise/motion/rosgoal"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
	"poise/problem"
	"poise/robot"
)

// Services are those of a library of motions. All fields must be set before Serve.
type Services struct {
	Library *library.Library
	Model   *robot.Model
	Period  float64 // of the cycle, s
	Log     *slog.Logger
	Last    func() (k executive.Kept, ok bool) // the last trajectory that was received or planned

	Life context.Context // of the reading beside those who ask; nil is without end

	index index
}

// Serve registers the library and the edits. They belong to no robot: a motion is for
// every one of them.
func (s *Services) Serve(g *graph.Graph) error {
	return errors.Join(
		service(g, "motions/list", s.list),
		service(g, "motions/get", s.get),
		service(g, "motions/put", s.put),
		service(g, "motions/delete", s.delete),
		service(g, "motions/rename", s.rename),
		service(g, "motions/lint", s.judge),
		service(g, "motions/sample", s.sample),
		service(g, "motions/edit", s.edit),
		service(g, "motions/import", s.importText),
		service(g, "motions/export", s.exportText),
		service(g, "motions/save_last", s.saveLast),
	)
}

func service[Req, Res any](g *graph.Graph, name string, f func(ctx context.Context, q *Req) (*Res, error)) error {
	_, err := graph.Service(g, name, f, graph.ServiceOptions{})
	return err
}

// libraryCodes name what can be wrong with a stored motion, for programs.
var libraryCodes = []struct {
	kind error
	code problem.Code
	help string
}{
	{library.ErrUnknown, "unknown_motion", ""},
	{library.ErrUnreadable, "unreadable_motion", ""},
	{library.ErrStale, "version_conflict", "get the motion again, and change that one"},
	{library.ErrExists, "motion_exists", "choose another name, or give the version that is to be replaced"},
	{library.ErrName, "bad_name", ""},
	{library.ErrReadOnly, "read_only", "start the server with --motions DIR"},
	{library.ErrHangs, "folder_hangs", "look after the disk or the network behind the folder"},
	{library.ErrBusy, "folder_locked", "end the program that holds it, or try again later"},
	{library.ErrFull, "folder_full", "delete some, or allow more in the configuration (limits)"},
}

// unsaved says which motion a disk would not take; the system only names its files.
func unsaved(name string, err error) error {
	var file *fs.PathError
	var link *os.LinkError
	if errors.As(err, &file) || errors.As(err, &link) {
		return fmt.Errorf("motion %q could not be saved: %w", name, err)
	}
	return err
}

// why explains an error about a motion.
func why(err error) (text string, all []poisemsgs.Explanation) {
	for _, known := range libraryCodes {
		if errors.Is(err, known.kind) {
			return err.Error(), edge.Explanations([]problem.Problem{*problem.New(known.code, "%s", err.Error()).With("%s", known.help)})
		}
	}
	if len(problem.In(err)) > 0 {
		x := edge.MotionProblems(err)
		return problem.Join(x), edge.Explanations(x)
	}
	return err.Error(), edge.Explanations(problem.All("failed", err))
}

func (s *Services) get(_ context.Context, q *poisemsgs.MotionsGetRequest) (*poisemsgs.MotionsGetResponse, error) {
	m, err := s.Library.Get(q.Name)
	if err != nil {
		text, x := why(err)
		return &poisemsgs.MotionsGetResponse{Message: text, Explanations: x}, nil
	}
	version := m.Version
	if m.Shipped {
		version = "" // saving makes a motion of one's own
	}
	return &poisemsgs.MotionsGetResponse{Success: true, Motion: edge.Motion(m.Name, m.Document), Version: version, Text: string(m.Text)}, nil
}

func (s *Services) put(ctx context.Context, q *poisemsgs.MotionsPutRequest) (*poisemsgs.MotionsPutResponse, error) {
	version, err := s.Library.Put(q.Motion.Name, edge.Document(&q.Motion), q.Version)
	err = unsaved(q.Motion.Name, err)
	s.audit(ctx, "put "+q.Motion.Name, err)
	if err != nil {
		text, x := why(err)
		return &poisemsgs.MotionsPutResponse{Message: text, Explanations: x}, nil
	}
	return &poisemsgs.MotionsPutResponse{Success: true, Message: "saved", Version: version}, nil
}

func (s *Services) delete(ctx context.Context, q *poisemsgs.MotionsDeleteRequest) (*poisemsgs.MotionsDeleteResponse, error) {
	err := unsaved(q.Name, s.Library.Delete(q.Name, q.Version))
	s.audit(ctx, "delete "+q.Name, err)
	if err != nil {
		text, x := why(err)
		return &poisemsgs.MotionsDeleteResponse{Message: text, Explanations: x}, nil
	}
	return &poisemsgs.MotionsDeleteResponse{Success: true, Message: "deleted"}, nil
}

func (s *Services) rename(ctx context.Context, q *poisemsgs.MotionsRenameRequest) (*poisemsgs.MotionsRenameResponse, error) {
	err := unsaved(q.From, s.Library.Rename(q.From, q.To, q.Version))
	s.audit(ctx, fmt.Sprintf("rename %s to %s", q.From, q.To), err)
	if err != nil {
		text, x := why(err)
		return &poisemsgs.MotionsRenameResponse{Message: text, Explanations: x}, nil
	}
	r := &poisemsgs.MotionsRenameResponse{Success: true, Message: "renamed"}
	if m, err := s.Library.Get(q.To); err == nil {
		r.Version = m.Version
	}
	return r, nil
}

// audit leaves a line about a change of the library.
func (s *Services) audit(ctx context.Context, what string, err error) {
	result := "ok"
	if err != nil {
		result = err.Error()
	}
	s.Log.Info("audit", "who", cmp.Or(graph.Caller(ctx), "server"), "what", "motion: "+what, "result", result)
}

func (s *Services) judge(_ context.Context, q *poisemsgs.MotionsLintRequest) (*poisemsgs.MotionsLintResponse, error) {
	d := edge.Document(&q.Motion)
	if q.Name != "" {
		m, err := s.Library.Get(q.Name)
		if err != nil {
			text, x := why(err)
			return &poisemsgs.MotionsLintResponse{Message: text, Explanations: x}, nil
		}
		d = m.Document
	}
	r := &poisemsgs.MotionsLintResponse{Success: true, Findings: edge.Findings(s.check(d))}
	if err := lint.Unjudged(d, s.Model); err != nil {
		r.Message = err.Error()
	}
	return r, nil
}

func (s *Services) edit(_ context.Context, q *poisemsgs.MotionsEditRequest) (*poisemsgs.MotionsEditResponse, error) {
	d, err := motion.Apply(edge.Document(&q.Motion), s.Model, edge.Operation(&q.Operation))
	if err != nil {
		text, x := why(err)
		return &poisemsgs.MotionsEditResponse{Message: text, Explanations: x}, nil
	}
	return &poisemsgs.MotionsEditResponse{Success: true, Motion: edge.Motion(q.Motion.Name, d)}, nil
}

// finest is how many samples the curves of a motion have if the request does not say.
const finest = 400

func (s *Services) sample(_ context.Context, q *poisemsgs.MotionsSampleRequest) (*poisemsgs.MotionsSampleResponse, error) {
	refuse := func(err error) (*poisemsgs.MotionsSampleResponse, error) {
		text, x := why(err)
		return &poisemsgs.MotionsSampleResponse{Message: text, Explanations: x}, nil
	}
	d := edge.Document(&q.Motion)
	if err := d.Check(); err != nil {
		return refuse(err)
	}
	g, err := d.Goal(motion.Part{Marked: q.Part, Scale: q.Scale, Backward: q.Backward})
	if err != nil {
		return refuse(err)
	}
	period := q.Period
	if period == 0 {
		period = max(g.Duration()/finest, 0.001)
	}
	samples, err := motion.Sample(g, s.Model, period)
	if err != nil {
		return refuse(err)
	}
	r := &poisemsgs.MotionsSampleResponse{Success: true, Times: samples.Times, Curves: edge.Curves(samples),
		Findings: edge.Findings(s.check(d))}
	if q.Forces {
		along, err := d.Forces(g, s.Model, samples.Times)
		r.Forces = edge.Forces(s.Model, along, err)
	}
	return r, nil
}

// check judges a motion as the robot plays it.
func (s *Services) check(d *motion.Document) []problem.Problem {
	return lint.Check(d, s.Model, lint.Options{Period: s.Period})
}

// importText imports a motion file, or a goal as the original stored it.
func (s *Services) importText(_ context.Context, q *poisemsgs.MotionsImportRequest) (*poisemsgs.MotionsImportResponse, error) {
	name := strings.TrimSuffix(path.Base(q.Name), ".motion.yaml")
	var d *motion.Document
	var err error
	var notes []string
	if strings.HasPrefix(strings.TrimSpace(q.Text), "{") {
		d, notes, err = rosgoal.Read([]byte(q.Text))
	} else {
		d, err = file.Read([]byte(q.Text), name)
	}
	if err != nil {
		text, x := why(err)
		return &poisemsgs.MotionsImportResponse{Message: text, Explanations: x}, nil
	}
	return &poisemsgs.MotionsImportResponse{Success: true, Message: strings.Join(notes, "; "), Motion: edge.Motion(name, d)}, nil
}

// Formats in which a motion is exported: its file, the goal as the original stored
// it, and the goal of follow_joint_trajectory_with_actions.
const (
	formatFile    = "yaml"
	formatGoal    = "goal"
	formatActions = "goal_with_actions"
)

func (s *Services) exportText(_ context.Context, q *poisemsgs.MotionsExportRequest) (*poisemsgs.MotionsExportResponse, error) {
	refuse := func(err error) (*poisemsgs.MotionsExportResponse, error) {
		text, x := why(err)
		return &poisemsgs.MotionsExportResponse{Message: text, Explanations: x}, nil
	}
	d := edge.Document(&q.Motion)
	if q.Name != "" {
		m, err := s.Library.Get(q.Name)
		if err != nil {
			return refuse(err)
		}
		d = m.Document
	}
	if err := d.Check(); err != nil {
		return refuse(err)
	}
	if q.Format == formatFile {
		return &poisemsgs.MotionsExportResponse{Success: true, Text: string(file.Write(d, nil))}, nil
	}
	g, err := d.Goal(motion.Part{Marked: q.Part, Scale: q.Scale, Backward: q.Backward})
	if err != nil {
		return refuse(err)
	}
	switch q.Format {
	case formatGoal:
		return &poisemsgs.MotionsExportResponse{Success: true, Text: string(rosgoal.Write(g))}, nil
	case formatActions:
		return &poisemsgs.MotionsExportResponse{Success: true, Text: string(rosjson.Append(nil, edge.GoalMessage(g), msgs.ROS2))}, nil
	}
	return refuse(fmt.Errorf("format %q is unknown: %s, %s or %s%s", q.Format, formatFile, formatGoal, formatActions,
		problem.Hint(q.Format, []string{formatFile, formatGoal, formatActions})))
}

// saveLast stores the last trajectory that was received or planned.
func (s *Services) saveLast(ctx context.Context, q *poisemsgs.MotionsSaveLastRequest) (*poisemsgs.MotionsSaveLastResponse, error) {
	refuse := func(err error) (*poisemsgs.MotionsSaveLastResponse, error) {
		s.audit(ctx, "save last as "+q.Name, err)
		text, x := why(err)
		return &poisemsgs.MotionsSaveLastResponse{Message: text, Explanations: x}, nil
	}
	k, ok := s.Last()
	if !ok {
		return refuse(errors.New("no trajectory was received or planned yet"))
	}
	d, err := k.Document(s.Model)
	if err != nil {
		return refuse(err)
	}
	version, err := s.Library.Put(q.Name, d, "")
	if err = unsaved(q.Name, err); err != nil {
		return refuse(err)
	}
	s.audit(ctx, "save last as "+q.Name, nil)
	return &poisemsgs.MotionsSaveLastResponse{Success: true, Message: "saved", Version: version}, nil
}
