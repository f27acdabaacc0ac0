package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"poise/msgs"
	"poise/msgs/registry"
)

// definition is what messages, services and actions have in common.
type definition interface {
	Name(f msgs.Form) string
	Text(f msgs.Form) string
	MD5() string
}

// interfaceCommand shows the message types: their definitions as files of ROS hold
// them, and the sums by which ROS 1 peers agree on them.
func interfaceCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	ros1 := fs.Bool("ros1", false, "names and definitions as ROS 1 has them")
	full := fs.Bool("full", false, "show: with the definitions of all messages inside")
	return func(args []string) error {
		if *ros1 {
			return showInterface(e, args, msgs.ROS1, *full)
		}
		return showInterface(e, args, msgs.ROS2, *full)
	}
}

func showInterface(e *env, rest []string, form msgs.Form, full bool) error {
	switch {
	case len(rest) == 1 && rest[0] == "list":
		return listInterfaces(e, form, e.json)
	case len(rest) == 2 && (rest[0] == "show" || rest[0] == "md5"):
	default:
		if verbs := []string{"list", "show", "md5"}; !slices.Contains(verbs, first(rest)) {
			return wrongVerb("interface", rest, verbs)
		}
		return usagef("want list, show TYPE or md5 TYPE")
	}
	d, asked, err := findDefinition(rest[1])
	if err != nil {
		return err
	}
	if asked == msgs.ROS1 {
		form = msgs.ROS1
	}
	switch {
	case e.json:
		i := describeInterface(d, form)
		return printInterfaces(e, struct {
			answered
			interfaceInfo
		}{answered{true, i.Type}, i})
	case rest[0] == "md5":
		fmt.Fprintln(e.out, d.MD5())
	case full:
		m, ok := d.(*registry.Type)
		if !ok {
			return usagef("--full is for messages; a service has %[1]sRequest and %[1]sResponse, an action %[1]sAction", rest[1])
		}
		fmt.Fprint(e.out, m.FullText(form))
	default:
		fmt.Fprint(e.out, d.Text(form))
	}
	return nil
}

// interfaceInfo is a type as programs read it.
type interfaceInfo struct {
	Type string `json:"type"`
	MD5  string `json:"md5"` // of the ROS 1 form
	Text string `json:"text"`
}

func describeInterface(d definition, form msgs.Form) interfaceInfo {
	return interfaceInfo{Type: d.Name(form), MD5: d.MD5(), Text: d.Text(form)}
}

func printInterfaces(e *env, v any) error {
	enc := json.NewEncoder(e.out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func listInterfaces(e *env, form msgs.Form, asJSON bool) error {
	var all []definition
	for _, m := range registry.Messages() {
		all = append(all, m)
	}
	for _, s := range registry.Services() {
		all = append(all, s)
	}
	for _, a := range registry.Actions() {
		all = append(all, a)
	}
	var infos []interfaceInfo
	for _, d := range all {
		if m, ok := d.(*registry.Type); ok && (m.Part() || form == msgs.ROS2 && m.Form() == msgs.ROS1) {
			continue // shown by its service or action, or not of this form
		}
		infos = append(infos, describeInterface(d, form))
	}
	if asJSON {
		return printInterfaces(e, infos)
	}
	for _, i := range infos {
		fmt.Fprintln(e.out, i.Type)
	}
	return nil
}

// findDefinition looks a name up as a message, a service and an action.
func findDefinition(name string) (definition, msgs.Form, error) {
	if a, form, err := registry.ActionNamed(name); err == nil {
		// ROS 1's name of an action is also that of a message: the one with the sum
		if m, form, err := registry.Message(name); err == nil {
			return m, form, nil
		}
		return a, form, nil
	}
	if s, form, err := registry.ServiceNamed(name); err == nil {
		return s, form, nil
	}
	m, form, err := registry.Message(name)
	if err != nil {
		return nil, 0, err
	}
	return m, form, nil
}
