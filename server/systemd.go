package server

import (
	"net"
	"os"
	"strconv"
	"time"
)

// notifySystemd tells the service manager of a change of state, if there is one that
// listens (sd_notify(3)). It does not wait.
func notifySystemd(state string) {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	if name[0] == '@' {
		name = "\x00" + name[1:]
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)) // a manager that does not listen is its own trouble
	_, _ = c.Write([]byte(state))
}

// watchdog is that of systemd (sd_watchdog_enabled(3)).
type watchdog struct {
	period time.Duration // between signs of life; 0 if no watchdog waits for them
	last   time.Time
}

func newWatchdog() *watchdog {
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if pid := os.Getenv("WATCHDOG_PID"); err != nil || usec <= 0 || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return &watchdog{}
	}
	return &watchdog{period: time.Duration(usec) * time.Microsecond / 2}
}

// due reports whether it is time for a sign of life.
func (d *watchdog) due(now time.Time) bool {
	return d.period > 0 && now.Sub(d.last) >= d.period-watchPeriod
}

// feed gives one.
func (d *watchdog) feed(now time.Time) {
	d.last = now
	notifySystemd("WATCHDOG=1")
}
