package robot

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"poise/problem"
	"poise/robot/description"
)

func TestNestedGroups(t *testing.T) {
	plans := []groupPlan{
		{Name: "all", Groups: []string{"arm", "hand"}, Sorted: true},
		{Name: "hand", Joints: []int{7, 6, 7}, Leaves: []string{"x"}},
		{Name: "arm", Joints: []int{2, 1}, Groups: []string{"base"}},
		{Name: "base", Joints: []int{0, 1}, Leaves: []string{"x", "y"}},
	}
	var r problem.Report
	index := resolveGroups(plans, &r)
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	for name, want := range map[string]string{
		"all": "[0 1 2 6 7] [x y]", "hand": "[7 6] [x]", "arm": "[2 1 0] [x y]", "base": "[0 1] [x y]",
	} {
		p := plans[index[name]]
		if got := fmt.Sprint(p.Joints, p.Leaves); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestNestedGroupsRefuse(t *testing.T) {
	for _, tc := range []struct {
		name  string
		plans []groupPlan
		rule  problem.Code
		words string
	}{
		{"unknown", []groupPlan{{Name: "a", Groups: []string{"b"}}}, description.Impossible, `group "a": group "b" does not exist`},
		{"itself", []groupPlan{{Name: "a", Groups: []string{"a"}}}, Loop, `group "a": group "a" contains itself`},
		{"ring", []groupPlan{{Name: "a", Groups: []string{"b"}}, {Name: "b", Groups: []string{"c"}}, {Name: "c", Groups: []string{"a"}}}, Loop, `group "c": group "a" contains itself`},
		{"twice", []groupPlan{{Name: "a"}, {Name: "a"}}, BadName, `group "a": name used twice`},
		{"no name", []groupPlan{{}}, BadName, `group: name is empty`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r problem.Report
			resolveGroups(tc.plans, &r)
			if err := r.Err(); !errors.Is(err, tc.rule) || !strings.Contains(err.Error(), tc.words) {
				t.Errorf("error %v, want %s", err, tc.words)
			}
		})
	}
}

// TestSizeOfGroupsIsBounded: a tower of groups, each with all members of those below.
func TestSizeOfGroupsIsBounded(t *testing.T) {
	many := make([]int, 5000)
	for i := range many {
		many[i] = i
	}
	plans := []groupPlan{{Name: "g0", Joints: many}}
	for i := range 400 {
		plans = append(plans, groupPlan{Name: fmt.Sprintf("g%d", i+1), Groups: []string{fmt.Sprintf("g%d", i)}})
	}
	var r problem.Report
	resolveGroups(plans, &r)
	total := 0
	for _, p := range plans {
		total += len(p.Joints)
	}
	if total > maxMembers || len(r.Errors) != 1 || !strings.Contains(r.Err().Error(), "joints together") {
		t.Errorf("%d joints, errors %v", total, r.Err())
	}
}
