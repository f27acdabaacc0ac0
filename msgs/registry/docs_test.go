package registry

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"poise/msgs"
)

// Every type of poise_msgs is explained, and what is explained is there.
func TestDocsExplainEveryOwnType(t *testing.T) {
	page, err := os.ReadFile("../../docs/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	_, own, found := strings.Cut(string(page), "## Poise's own")
	own, _, found2 := strings.Cut(own, "`resource_control_msgs`")
	if !found || !found2 {
		t.Fatal("the page has no such part")
	}
	explained := map[string]bool{}
	for _, row := range strings.Split(own, "\n") {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			for _, word := range regexp.MustCompile(`[A-Z]\w+`).FindAllString(cells[1], -1) {
				explained[word] = true
			}
		}
	}
	there := map[string]bool{}
	for _, m := range Messages() {
		if m.pkg == "poise_msgs" && !m.Part() && m.Form() == msgs.ROS2 {
			there[m.name] = true
		}
	}
	for _, s := range Services() {
		if s.pkg == "poise_msgs" {
			there[s.name] = true
		}
	}
	for _, a := range Actions() {
		if a.pkg == "poise_msgs" {
			there[a.name] = true
		}
	}
	for name := range there {
		if !explained[name] {
			t.Errorf("%s is not explained", name)
		}
	}
	for name := range explained {
		if !there[name] {
			t.Errorf("%s is explained and does not exist", name)
		}
	}
}
