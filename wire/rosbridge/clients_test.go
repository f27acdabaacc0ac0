package rosbridge_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"poise/graph"
	"poise/internal/golden"
	"poise/msgs"
	"poise/wire/rosbridge"
)

// These tests run clients that others wrote, as they are, against a server of
// this package. tools/clients/setup.sh installs them.

// clientTools returns the folder with the clients, and a program in it.
func clientTools(t *testing.T, program string, modules ...string) (folder, path string) {
	t.Helper()
	if testing.Short() {
		t.Skip("absent: time (-short); foreign clients take long under the race detector")
	}
	folder = os.Getenv("POISE_CLIENTS")
	if folder == "" {
		folder = "../../.tools/clients"
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.IsLocal(program) && strings.Contains(program, "/") {
		path = filepath.Join(folder, program)
	} else if path, err = exec.LookPath(program); err != nil {
		golden.Missing(t, "%s is missing: %v", program, err)
	}
	needs := []string{path, filepath.Join(folder, "node_modules/roslib")}
	for _, m := range modules {
		needs = append(needs, filepath.Join(folder, "node_modules", m))
	}
	for _, need := range needs {
		if _, err := os.Stat(need); err != nil {
			golden.Missing(t, "%s is missing; tools/clients/setup.sh installs it", filepath.Base(need))
		}
	}
	return folder, path
}

// world is a bed whose server can be replaced, with a page for browsers.
type world struct {
	*bed
	now atomic.Pointer[rosbridge.Server]
	web *httptest.Server
}

func newWorld(t *testing.T, folder string) *world {
	w := &world{bed: newBed(t, rosbridge.Config{})}
	w.now.Store(w.server)
	mux := http.NewServeMux()
	bridge := func(rw http.ResponseWriter, r *http.Request) { w.now.Load().ServeHTTP(rw, r) }
	mux.HandleFunc("/{$}", bridge)
	mux.HandleFunc("/rosbridge", bridge)
	mux.Handle("/clients/", http.StripPrefix("/clients/", http.FileServer(http.Dir("../../tools/clients"))))
	mux.Handle("/node_modules/", http.FileServer(http.Dir(folder)))
	w.web = httptest.NewServer(mux)
	t.Cleanup(func() {
		w.now.Load().Close()
		w.web.Close()
	})
	must(graph.Service(w.g, "restart", func(context.Context, *srvReq) (*srvRes, error) {
		go func() { // clients do not wait for the answer
			old := w.now.Swap(rosbridge.New(w.g, rosbridge.Config{}))
			old.Close()
		}()
		return &srvRes{Success: true}, nil
	}, graph.ServiceOptions{}))
	return w
}

// runClient runs a client's program and wants it to end well.
func runClient(t *testing.T, folder, program string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "POISE_CLIENTS="+folder)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "all ok") {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func TestRoslibInNode(t *testing.T) {
	folder, node := clientTools(t, "node")
	w := newWorld(t, folder)
	runClient(t, folder, node, "../../tools/clients/node.mjs", "ws"+strings.TrimPrefix(w.web.URL, "http")+"/rosbridge")
}

func TestRoslibInABrowser(t *testing.T) {
	folder, node := clientTools(t, "node")
	browser := os.Getenv("CHROMIUM")
	if browser == "" {
		browser = "/usr/bin/chromium"
	}
	if _, err := os.Stat(browser); err != nil {
		golden.Missing(t, "no browser: %v; CHROMIUM names one", err)
	}
	w := newWorld(t, folder)
	runClient(t, folder, node, "../../tools/clients/browser.mjs", w.web.URL+"/clients/page.html")
}

// TestFoxgloveReadsEverything makes the calls of Foxglove's rosbridge connection with
// Foxglove's own libraries: all topics are listed, defined and read, those of ROS 1's
// actions among them.
func TestFoxgloveReadsEverything(t *testing.T) {
	folder, node := clientTools(t, "node", "@foxglove/rosmsg", "@foxglove/rosmsg2-serialization", "@foxglove/roslibjs")
	w := newWorld(t, folder)
	// by the type of rosout it tells ROS 2 from ROS 1
	must(graph.Topic[msgs.Log](w.g, "rosout", graph.TopicOptions{}))
	runClient(t, folder, node, "../../tools/clients/foxglove.mjs", "ws"+strings.TrimPrefix(w.web.URL, "http"))
}

// TestRoslibpy connects to the path /, because roslibpy knows no other.
func TestRoslibpy(t *testing.T) {
	folder, python := clientTools(t, "venv/bin/python")
	w := newWorld(t, folder)
	u, err := url.Parse(w.web.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(u.Host)
	if err != nil {
		t.Fatal(err)
	}
	runClient(t, folder, python, "../../tools/clients/python_suite.py", port)
}
