package identify

import (
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"poise/problem"
)

// BadLog is the code of what is wrong with a log that cannot be read.
const BadLog problem.Code = "bad_log"

// Row is a cycle of a joint. What the log does not say is NaN.
type Row struct {
	Time        float64 // when the goal was sent, s
	Goal        float64 // rad
	PlayTime    float64 // over which the goal is reached, s
	MeasuredAt  float64 // when position and torque hold, s
	Position    float64 // rad; NaN if the reading was lost
	Voltage     float64 // V
	Torque      float64 // of the rigid bodies at the joint, N·m
	Kp          float64
	PWM         float64 // share of the supply, −1 … 1
	Temperature float64 // °C
}

// Joint is the log of a joint.
type Joint struct {
	Name string
	Rows []Row
}

// Log is what was read, joints in the order in which they first appear.
type Log struct {
	Joints []Joint
	Torque bool     // some row has a torque
	Unused []string // columns that are not known
}

// columns are those that a log may have; the first four it must have.
var columns = []string{"time", "joint", "goal", "position", "voltage", "torque", "play_time", "measured_at", "kp", "pwm", "temperature"}

const neededColumns = 4

// maxRows bounds a log: a day of 24 joints at 100 Hz has 200 million, which no fit needs.
const maxRows = 5_000_000

// Read reads a log; file is its name in messages.
func Read(in io.Reader, file string) (*Log, error) {
	r := logReader{csv: csv.NewReader(in), file: file, joints: map[string]int{}}
	r.csv.ReuseRecord = true
	r.csv.TrimLeadingSpace = true
	if err := r.header(); err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		record, err := r.csv.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, r.broken(err)
		}
		if n >= maxRows {
			return nil, r.fail("", "has more than %d rows", maxRows)
		}
		if err := r.row(record); err != nil {
			return nil, err
		}
	}
	if len(r.log.Joints) == 0 {
		return nil, &problem.Problem{Code: BadLog, Pos: problem.Pos{File: file, Line: 2}, Text: "no row follows the header"}
	}
	return &r.log, nil
}

type logReader struct {
	csv    *csv.Reader
	file   string
	at     [11]int // field of each column, -1 without it
	log    Log
	joints map[string]int
}

func (r *logReader) fail(thing, format string, a ...any) error {
	line, _ := r.csv.FieldPos(0)
	p := problem.New(BadLog, format, a...)
	p.Pos, p.Thing = problem.Pos{File: r.file, Line: line}, thing
	return p
}

// broken tells where a file stops being CSV.
func (r *logReader) broken(err error) error {
	var bad *csv.ParseError
	if errors.As(err, &bad) {
		return &problem.Problem{Code: BadLog, Pos: problem.Pos{File: r.file, Line: bad.Line}, Text: bad.Err.Error()}
	}
	return err
}

func (r *logReader) header() error {
	names, err := r.csv.Read()
	if err == io.EOF {
		return &problem.Problem{Code: BadLog, Pos: problem.Pos{File: r.file, Line: 1}, Text: "is empty; a header is wanted: time,joint,goal,position,voltage,torque"}
	}
	if err != nil {
		return r.broken(err)
	}
	for i := range r.at {
		r.at[i] = -1
	}
	for field, name := range names {
		name = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))
		switch i := slices.Index(columns, name); {
		case i < 0:
			r.log.Unused = append(r.log.Unused, name)
		case r.at[i] >= 0:
			return r.fail("column "+name, "is named twice: fields %d and %d of the header", r.at[i]+1, field+1)
		default:
			r.at[i] = field
		}
	}
	for i, name := range columns[:neededColumns] {
		if r.at[i] < 0 {
			return r.fail("column "+name, "is missing in the header (%s)%s", strings.Join(names, ","), problem.Hint(name, r.log.Unused))
		}
	}
	return nil
}

func (r *logReader) row(record []string) error {
	value := func(i int) string {
		if r.at[i] < 0 {
			return ""
		}
		return strings.TrimSpace(record[r.at[i]])
	}
	name := value(1)
	if name == "" {
		return r.fail("joint", "is empty")
	}
	var row Row
	into := []*float64{&row.Time, nil, &row.Goal, &row.Position, &row.Voltage, &row.Torque, &row.PlayTime, &row.MeasuredAt, &row.Kp, &row.PWM, &row.Temperature}
	for i, x := range into {
		if x == nil {
			continue
		}
		var err error
		if *x, err = r.number(i, value(i)); err != nil {
			return err
		}
	}
	if math.IsNaN(row.MeasuredAt) {
		row.MeasuredAt = row.Time
	}
	r.log.Torque = r.log.Torque || !math.IsNaN(row.Torque)
	j, known := r.joints[name]
	if !known {
		j = len(r.log.Joints)
		r.joints[name] = j
		r.log.Joints = append(r.log.Joints, Joint{Name: name})
	}
	rows := &r.log.Joints[j].Rows
	if n := len(*rows); n > 0 && !(row.Time > (*rows)[n-1].Time) {
		return r.fail("joint "+name, "time %g s is not after %g s of its row before", row.Time, (*rows)[n-1].Time)
	}
	*rows = append(*rows, row)
	return nil
}

// number reads a field. Time and goal must be there; of the others an empty one or nan is unknown.
func (r *logReader) number(column int, text string) (float64, error) {
	needed := column == 0 || column == 2
	if text == "" || strings.EqualFold(text, "nan") {
		if needed {
			return 0, r.fail(columns[column], "is empty")
		}
		return math.NaN(), nil
	}
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return 0, r.fail(columns[column], "a number is wanted, not %q", text)
	case math.IsInf(x, 0):
		return 0, r.fail(columns[column], "is %s, not a finite number", text)
	case column == 4 && !(x > 0), column == 8 && !(x > 0):
		return 0, r.fail(columns[column], "is %g, must be above 0", x)
	case column == 6 && x < 0:
		return 0, r.fail(columns[column], "is %g s, must not be negative", x)
	}
	return x, nil
}
