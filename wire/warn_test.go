package wire_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/wire"
)

// TestWarningsAreBounded: of a hundred at once one is logged, and the next tells how many were not.
func TestWarningsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := wire.Warner{Log: slog.New(slog.NewTextHandler(&out, nil))}
		for range 100 {
			w.Warn("refused")
		}
		time.Sleep(time.Second)
		w.Warn("refused")
		if n := strings.Count(out.String(), "msg=refused"); n != 2 {
			t.Errorf("%d lines of 101 were logged, want 2:\n%s", n, &out)
		}
		if !strings.Contains(out.String(), "left_out=99") {
			t.Errorf("the count of what was left out is missing:\n%s", &out)
		}
	})
}
