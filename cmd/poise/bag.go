package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"poise/wire/ros1"
	"poise/wire/ros1/bag"
	"poise/wire/ros1/raw"
)

// bagJob is one call of poise bag.
type bagJob struct {
	e *env

	out       string
	all, lz4  bool
	limit     int
	duration  float64
	rate      float64
	delay     float64
	patient   bool
	open      bool
	server    string
	serverSet bool
}

// bagFlags are the flags that verbs of poise bag take beside --json.
var bagFlags = map[string]string{"info": "", "record": "O a lz4 limit duration server ros1-open", "play": "rate delay wait-for-subscribers server ros1-open"}

// bagCommand tells of, records and plays bag files of ROS 1.
func bagCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	j := &bagJob{e: e}
	fs.StringVar(&j.out, "O", "", "record: to this `file`")
	fs.BoolVar(&j.all, "a", false, "record: all topics")
	fs.BoolVar(&j.lz4, "lz4", false, "record: packed by lz4")
	fs.IntVar(&j.limit, "limit", 0, "record: ends after so many messages")
	fs.Float64Var(&j.duration, "duration", 0, "record: ends after `seconds`")
	fs.Float64Var(&j.rate, "rate", 1, "play: so many times as fast")
	fs.Float64Var(&j.delay, "delay", 0.2, "play: `seconds` for subscribers to come")
	fs.BoolVar(&j.patient, "wait-for-subscribers", false, "play: until each topic has one")
	fs.StringVar(&j.server, "server", "", "record, play: a Poise server at this `address` instead of a ROS 1 master")
	fs.BoolVar(&j.open, "ros1-open", false, "record, play: reach other machines")
	return func(args []string) error { return j.run(fs, args) }
}

// bagVerbs are the first words of poise bag.
var bagVerbs = []string{"info", "record", "play"}

func (j *bagJob) run(fs *pflag.FlagSet, rest []string) (err error) {
	verbs := map[string]func([]string) error{"info": j.info, "record": j.record, "play": j.play}
	if len(rest) == 0 || verbs[rest[0]] == nil {
		return wrongVerb("bag", rest, bagVerbs)
	}
	allowed := strings.Fields("json " + bagFlags[rest[0]])
	fs.Visit(func(f *pflag.Flag) {
		j.serverSet = j.serverSet || f.Name == "server"
		if err == nil && !slices.Contains(allowed, f.Name) {
			err = usagef("%s takes no %s", rest[0], dashed(f.Name))
		}
	})
	switch {
	case err != nil:
		return err
	case !(j.rate > 0):
		return usagef("--rate is %v: it must be more than 0", j.rate)
	case j.delay < 0 || j.duration < 0 || j.limit < 0:
		return usagef("--delay, --duration and --limit must not be below 0")
	}
	return verbs[rest[0]](rest[1:])
}

// openBag opens a bag; one without an index is recovered, and that is said.
func (j *bagJob) openBag(path string) (b *bag.Bag, size int64, end func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a file")
	}
	if err == nil {
		size = info.Size()
		b, err = bag.Open(f, size)
	}
	if errors.Is(err, bag.ErrUnindexed) {
		var loss bag.Loss
		if b, loss, err = bag.Recover(f, size, bag.Limits{}); err == nil {
			fmt.Fprintf(j.e.err, "poise: bag: %s: %v; its %d whole chunks are read%s\n", path, bag.ErrUnindexed, len(b.Chunks), lossText(loss))
		}
	}
	if err != nil {
		f.Close()
		return nil, 0, nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, size, func() { f.Close() }, nil
}

func lossText(l bag.Loss) string {
	if l.Bytes == 0 {
		return ""
	}
	return fmt.Sprintf(", its last %d bytes are lost: %s", l.Bytes, l.Why)
}

// bagInfo is what programs read of a bag.
type bagInfo struct {
	Path        string         `json:"path"`
	Size        int64          `json:"size"`
	Start       float64        `json:"start"`
	End         float64        `json:"end"`
	Duration    float64        `json:"duration"`
	Messages    uint64         `json:"messages"`
	Compression string         `json:"compression"`
	Chunks      int            `json:"chunks"`
	Topics      []bagTopicInfo `json:"topics"`
}

type bagTopicInfo struct {
	Topic       string `json:"topic"`
	Type        string `json:"type"`
	MD5         string `json:"md5"`
	Messages    uint64 `json:"messages"`
	Connections int    `json:"connections"`
}

// info prints what is in a bag, as rosbag info does.
func (j *bagJob) info(args []string) error {
	if err := checkArguments(args, []string{"FILE"}); err != nil {
		return err
	}
	b, size, end, err := j.openBag(args[0])
	if err != nil {
		return err
	}
	defer end()
	start, last, _ := b.Span()
	i := bagInfo{Path: args[0], Size: size, Start: float64(start.Nanoseconds()) / 1e9, End: float64(last.Nanoseconds()) / 1e9,
		Duration: float64(last.Nanoseconds()-start.Nanoseconds()) / 1e9, Compression: compressions(b), Chunks: len(b.Chunks), Topics: []bagTopicInfo{}}
	for _, t := range b.Topics() {
		i.Topics = append(i.Topics, bagTopicInfo{t.Name, t.Type, t.MD5, t.Messages, t.Connections})
		i.Messages += t.Messages
	}
	if j.e.json {
		return encode(j.e.out, i)
	}
	table(j.e.out, func(w io.Writer) {
		fmt.Fprintf(w, "path:\t%s\nversion:\t2.0\nduration:\t%.3f s\n", i.Path, i.Duration)
		if i.Messages > 0 {
			fmt.Fprintf(w, "start:\t%s (%.2f)\nend:\t%s (%.2f)\n", date(start), i.Start, date(last), i.End)
		}
		fmt.Fprintf(w, "size:\t%d bytes\nmessages:\t%d\ncompression:\t%s\n", i.Size, i.Messages, i.Compression)
	})
	table(j.e.out, func(w io.Writer) {
		for n, t := range i.Topics {
			word := "topics:"
			if n > 0 {
				word = ""
			}
			fmt.Fprintf(w, "%s\t%s\t%d msgs\t%s\t%s\n", word, t.Topic, t.Messages, t.Type, t.MD5)
		}
	})
	return nil
}

func date(t bag.Time) string {
	return time.Unix(0, t.Nanoseconds()).UTC().Format("2006-01-02 15:04:05.000 UTC")
}

// compressions says how the chunks are packed: "lz4 [12/12 chunks]".
func compressions(b *bag.Bag) string {
	counts := map[string]int{}
	for _, c := range b.Chunks {
		counts[c.Compression]++
	}
	var out []string
	for _, name := range []string{bag.None, bag.LZ4, bag.BZ2} {
		if counts[name] > 0 {
			out = append(out, fmt.Sprintf("%s [%d/%d chunks]", name, counts[name], len(b.Chunks)))
		}
	}
	if len(out) == 0 {
		return bag.None
	}
	return strings.Join(out, ", ")
}

// bagPeer is what is recorded from and played to: a ROS 1 network, or a Poise server.
type bagPeer interface {
	// topics lists what is published.
	topics(ctx context.Context) ([]string, error)
	// read calls take with every message of a topic, from any goroutine.
	read(ctx context.Context, topic string, take func(c bag.Connection, data []byte)) error
	// advertise announces a topic of a bag and returns what publishes on it.
	advertise(ctx context.Context, c *bag.Connection) (func(data []byte) error, error)
	// heard waits until every advertised topic has a subscriber, and reports false if ctx is
	// done before.
	heard(ctx context.Context) (bool, error)
	// lost returns how many messages a peer was too slow for.
	lost() uint64
	// ended is closed if the other side ends this.
	ended() <-chan struct{}
	// close ends it; what was published is on its way.
	close()
	// String names it for people.
	String() string
}

// peer finds the other side: the server that was named, else a ROS 1 master, else, where no
// variable names a master, the Poise server of this machine.
func (j *bagJob) peer(ctx context.Context) (bagPeer, error) {
	if j.serverSet {
		return dialBagServer(j.server, j.e)
	}
	c := ros1.Environment(os.Getenv)
	c.Open, c.Log = j.open, stderrLog(j.e.err)
	n, err := raw.Join(ctx, c, fmt.Sprintf("/poise_bag_%d", os.Getpid()))
	var none *raw.NoMasterError
	switch {
	case err == nil:
		return &bagNode{n: n}, nil
	case !errors.As(err, &none) || os.Getenv("ROS_MASTER_URI") != "":
		return nil, err
	}
	p, failed := dialBagServer(defaultServer, j.e)
	if failed != nil {
		return nil, errors.Join(err, failed)
	}
	return p, nil
}

// untilInterrupted returns a context that ends with Ctrl-C or a request to end.
func untilInterrupted() (context.Context, func()) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second ends the program
	return ctx, stop
}
