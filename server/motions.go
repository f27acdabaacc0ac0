package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"poise/edge"
	"poise/executive/explain"
	"poise/graph"
	"poise/motion"
	"poise/motion/file"
	"poise/motion/library"
	"poise/motion/lint"
	"poise/motion/rosgoal"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
)

// shelf is the library as the executive sees it.
type shelf struct{ *library.Library }

// Motion returns a motion that can be played.
func (s shelf) Motion(name string) (*motion.Document, error) {
	m, err := s.Get(name)
	if err != nil {
		return nil, err
	}
	return m.Document, nil
}

// Names lists all motions, readable or not.
func (s shelf) Names() (names []string) {
	all, _ := s.List() // what cannot be listed has no names
	for _, m := range all {
		names = append(names, m.Name)
	}
	return names
}

// serveMotions registers the library and the editing model. They belong to no
// instance: a motion is for either robot.
func (s *Server) serveMotions() error {
	return errors.Join(
		service(s, "motions/list", s.listMotions),
		service(s, "motions/get", s.getMotion),
		service(s, "motions/put", s.putMotion),
		service(s, "motions/delete", s.deleteMotion),
		service(s, "motions/rename", s.renameMotion),
		service(s, "motions/lint", s.lintMotion),
		service(s, "motions/sample", s.sampleMotion),
		service(s, "motions/edit", s.editMotion),
		service(s, "motions/import", s.importMotion),
		service(s, "motions/export", s.exportMotion),
		service(s, "motions/save_last", s.saveLast),
	)
}

func service[Req, Res any](s *Server, name string, f func(ctx context.Context, q *Req) (*Res, error)) error {
	_, err := graph.Service(s.graph, name, f, graph.ServiceOptions{})
	return err
}

// libraryCodes name what can be wrong with a stored motion, for programs.
var libraryCodes = []struct {
	kind error
	code string
	help string
}{
	{library.ErrUnknown, "unknown_motion", ""},
	{library.ErrUnreadable, "unreadable_motion", ""},
	{library.ErrStale, "version_conflict", "get the motion again, and change that one"},
	{library.ErrExists, "motion_exists", "choose another name, or give the version that is to be replaced"},
	{library.ErrName, "bad_name", ""},
	{library.ErrReadOnly, "read_only", "start the server with --motions DIR"},
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
			return err.Error(), edge.Explanations([]explain.Explanation{explain.Because(known.code, err.Error()).With(known.help)})
		}
	}
	var problem *motion.Problem
	if errors.As(err, &problem) {
		x := edge.MotionProblems(err)
		return explain.Join(x), edge.Explanations(x)
	}
	return err.Error(), edge.Explanations(explain.Errors("failed", err))
}

func (s *Server) listMotions(context.Context, *poisemsgs.MotionsListRequest) (*poisemsgs.MotionsListResponse, error) {
	r := &poisemsgs.MotionsListResponse{Success: true}
	all, err := s.library.List()
	if err != nil {
		r.Success = false
		r.Message, r.Explanations = why(err)
	}
	s.warn(all)
	for _, m := range all {
		info := poisemsgs.MotionInfo{Name: m.Name, Shipped: m.Shipped, Version: m.Version}
		if m.Err != nil {
			info.Error = m.Err.Error()
			r.Motions = append(r.Motions, info)
			continue
		}
		d := m.Document
		info.Description, info.Tags, info.Duration, info.Loop = d.Description, d.Tags, d.Duration(), d.Loop
		info.Points, info.Events = uint32(len(d.Points)), uint32(len(d.Events))
		for _, j := range d.Joints {
			info.Joints = append(info.Joints, j.Name)
		}
		info.Findings = s.findings.of(m, s.robot.Model)
		r.Motions = append(r.Motions, info)
	}
	return r, nil
}

func (s *Server) getMotion(_ context.Context, q *poisemsgs.MotionsGetRequest) (*poisemsgs.MotionsGetResponse, error) {
	m, err := s.library.Get(q.Name)
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

func (s *Server) putMotion(ctx context.Context, q *poisemsgs.MotionsPutRequest) (*poisemsgs.MotionsPutResponse, error) {
	version, err := s.library.Put(q.Motion.Name, edge.Document(&q.Motion), q.Version)
	err = unsaved(q.Motion.Name, err)
	s.auditMotion(ctx, "put "+q.Motion.Name, err)
	if err != nil {
		text, x := why(err)
		return &poisemsgs.MotionsPutResponse{Message: text, Explanations: x}, nil
	}
	return &poisemsgs.MotionsPutResponse{Success: true, Message: "saved", Version: version}, nil
}

func (s *Server) deleteMotion(ctx context.Context, q *poisemsgs.MotionsDeleteRequest) (*poisemsgs.MotionsDeleteResponse, error) {
	err := unsaved(q.Name, s.library.Delete(q.Name, q.Version))
	s.auditMotion(ctx, "delete "+q.Name, err)
	if err != nil {
		text, x := why(err)
		return &poisemsgs.MotionsDeleteResponse{Message: text, Explanations: x}, nil
	}
	return &poisemsgs.MotionsDeleteResponse{Success: true, Message: "deleted"}, nil
}

func (s *Server) renameMotion(ctx context.Context, q *poisemsgs.MotionsRenameRequest) (*poisemsgs.MotionsRenameResponse, error) {
	err := unsaved(q.From, s.library.Rename(q.From, q.To, q.Version))
	s.auditMotion(ctx, fmt.Sprintf("rename %s to %s", q.From, q.To), err)
	if err != nil {
		text, x := why(err)
		return &poisemsgs.MotionsRenameResponse{Message: text, Explanations: x}, nil
	}
	r := &poisemsgs.MotionsRenameResponse{Success: true, Message: "renamed"}
	if m, err := s.library.Get(q.To); err == nil {
		r.Version = m.Version
	}
	return r, nil
}

// auditMotion leaves a line about a change of the library.
func (s *Server) auditMotion(ctx context.Context, what string, err error) {
	result := "ok"
	if err != nil {
		result = err.Error()
	}
	s.log.Info("audit", "who", who(ctx), "what", "motion: "+what, "result", result)
}

func (s *Server) lintMotion(_ context.Context, q *poisemsgs.MotionsLintRequest) (*poisemsgs.MotionsLintResponse, error) {
	d := edge.Document(&q.Motion)
	if q.Name != "" {
		m, err := s.library.Get(q.Name)
		if err != nil {
			text, x := why(err)
			return &poisemsgs.MotionsLintResponse{Message: text, Explanations: x}, nil
		}
		d = m.Document
	}
	return &poisemsgs.MotionsLintResponse{Success: true, Findings: edge.Findings(lint.Check(d, s.robot.Model, lint.Options{}))}, nil
}

func (s *Server) editMotion(_ context.Context, q *poisemsgs.MotionsEditRequest) (*poisemsgs.MotionsEditResponse, error) {
	d, err := motion.Apply(edge.Document(&q.Motion), s.robot.Model, edge.Operation(&q.Operation))
	if err != nil {
		text, x := why(err)
		return &poisemsgs.MotionsEditResponse{Message: text, Explanations: x}, nil
	}
	return &poisemsgs.MotionsEditResponse{Success: true, Motion: edge.Motion(q.Motion.Name, d)}, nil
}

// finest is how many samples the curves of a motion have if nobody says.
const finest = 400

func (s *Server) sampleMotion(_ context.Context, q *poisemsgs.MotionsSampleRequest) (*poisemsgs.MotionsSampleResponse, error) {
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
	samples, err := g.Sample(s.robot.Model, period)
	if err != nil {
		return refuse(err)
	}
	return &poisemsgs.MotionsSampleResponse{Success: true, Times: samples.Times, Curves: edge.Curves(samples),
		Findings: edge.Findings(lint.Check(d, s.robot.Model, lint.Options{}))}, nil
}

// importMotion reads a motion file, or a goal as the original stored it.
func (s *Server) importMotion(_ context.Context, q *poisemsgs.MotionsImportRequest) (*poisemsgs.MotionsImportResponse, error) {
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

func (s *Server) exportMotion(_ context.Context, q *poisemsgs.MotionsExportRequest) (*poisemsgs.MotionsExportResponse, error) {
	refuse := func(err error) (*poisemsgs.MotionsExportResponse, error) {
		text, x := why(err)
		return &poisemsgs.MotionsExportResponse{Message: text, Explanations: x}, nil
	}
	d := edge.Document(&q.Motion)
	if q.Name != "" {
		m, err := s.library.Get(q.Name)
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
		return &poisemsgs.MotionsExportResponse{Success: true, Text: string(rosjson.Append(nil, edge.GoalMessage(g.Follow()), msgs.ROS2))}, nil
	}
	return refuse(fmt.Errorf("format %q is unknown: %s, %s or %s", q.Format, formatFile, formatGoal, formatActions))
}

// saveLast stores the last trajectory that was received or planned.
func (s *Server) saveLast(ctx context.Context, q *poisemsgs.MotionsSaveLastRequest) (*poisemsgs.MotionsSaveLastResponse, error) {
	refuse := func(err error) (*poisemsgs.MotionsSaveLastResponse, error) {
		s.auditMotion(ctx, "save last as "+q.Name, err)
		text, x := why(err)
		return &poisemsgs.MotionsSaveLastResponse{Message: text, Explanations: x}, nil
	}
	k, ok := s.virtual.exec.Last()
	if s.real != nil {
		if other, has := s.real.exec.Last(); has && (!ok || other.Tick.Stamp > k.Tick.Stamp) {
			k, ok = other, true
		}
	}
	if !ok {
		return refuse(errors.New("no trajectory was received or planned yet"))
	}
	d, err := k.Document(s.robot.Model)
	if err != nil {
		return refuse(err)
	}
	version, err := s.library.Put(q.Name, d, "")
	if err = unsaved(q.Name, err); err != nil {
		return refuse(err)
	}
	s.auditMotion(ctx, "save last as "+q.Name, nil)
	return &poisemsgs.MotionsSaveLastResponse{Success: true, Message: "saved", Version: version}, nil
}
