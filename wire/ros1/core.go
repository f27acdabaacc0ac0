package ros1

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"syscall"
	"time"

	"poise/wire/admission"
	"poise/wire/loopback"
	"poise/wire/ros1/master"
	"poise/wire/ros1/xmlrpc"
)

// Core is a master of this program. It answers from when it is made until Close: nodes of the
// same program may need it before there is a graph to show.
type Core struct {
	uri     string // as ROS_MASTER_URI has it, with the port that was taken
	master  *master.Master
	client  *xmlrpc.Client
	end     context.CancelFunc
	running sync.WaitGroup
}

// NewCore makes a master at the port of the configuration's Master.
func NewCore(c Config) (*Core, error) {
	if err := c.finish(); err != nil {
		return nil, err
	}
	u, _ := url.Parse(c.Master) // finish has read it
	l, err := net.Listen("tcp", net.JoinHostPort(c.listenHost(), u.Port()))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("another program listens at port %s, perhaps a roscore: leave --ros1-master out to join it, or choose another port by ROS_MASTER_URI", u.Port())
	} else if err != nil {
		return nil, fmt.Errorf("the ROS 1 master cannot listen: %w", err)
	}
	if u.Port() == "0" {
		u.Host = net.JoinHostPort(u.Hostname(), portOf(l))
	}
	k := &Core{uri: u.String(), client: xmlrpc.NewClient(c.dial)}
	k.master = master.New(master.Config{URI: "http://" + net.JoinHostPort(c.Host, portOf(l)) + "/", Client: k.client, Log: c.Log})
	var life context.Context
	life, k.end = context.WithCancel(context.Background())
	c.serve(life, &k.running, l, k.master)
	if err := k.master.SetParam("/run_id", runID()); err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

// URI returns where the master is.
func (k *Core) URI() string { return k.uri }

// Close ends the master.
func (k *Core) Close() {
	k.end()
	k.running.Wait()
	k.master.Close()
	k.client.Close()
}

// runID names a run of the master, as roscore does.
func runID() string {
	return fmt.Sprintf("poise-%d-%d", os.Getpid(), time.Now().UnixNano())
}

// Bounds of HTTP.
const (
	headerWithin = 5 * time.Second
	callWithin   = 30 * time.Second
	idleWithin   = 60 * time.Second
	maxHTTP      = 512 // connections to the master or to the node
)

// serve answers XML-RPC on a listener until life is over.
func (c *Config) serve(life context.Context, running *sync.WaitGroup, l net.Listener, h http.Handler) {
	guarded := c.guard(h)
	bounded := admission.Listen(l, admission.Config{Most: admission.Room(maxHTTP), Urgent: guarded, Log: c.Log})
	web := &http.Server{Handler: guarded, ReadHeaderTimeout: headerWithin, ReadTimeout: callWithin, WriteTimeout: callWithin, IdleTimeout: idleWithin,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug)}
	running.Go(func() { _ = web.Serve(bounded) }) // until it is closed
	running.Go(func() {
		<-life.Done()
		web.Close()
		bounded.Close()
	})
}

// guard refuses what a page in a browser sends: ROS peers have no origin. On loopback the
// host must be this machine, too.
func (c *Config) guard(h http.Handler) http.Handler {
	open := c.Open
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" {
			http.Error(w, "pages may not call ROS 1", http.StatusForbidden)
			return
		}
		if host, _, err := net.SplitHostPort(r.Host); !open && (err != nil || !loopback.IsName(host) && !isHere(host)) {
			http.Error(w, (&loopback.HostError{Host: r.Host}).Error(), http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}
