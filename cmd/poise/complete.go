package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"poise/robot/load"
	"poise/wire/rosbridge/client"
)

// completePatience is how long completion waits for a server.
var completePatience = 500 * time.Millisecond // tests on a slow machine wait longer

// complete proposes what can stand next, for shells: the words of a command, shipped robots,
// or names that a running server knows.
func (c *command) complete(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if l, ok := served[c.name]; ok && len(args) >= l.after && (len(args) == l.after || l.many) {
		return starting(l.ask(cmd, begun), begun), cobra.ShellCompDirectiveNoFileComp
	}
	switch {
	case len(args) > 0 || c.words == nil && !strings.HasPrefix(c.args, "ROBOT"):
		return nil, cobra.ShellCompDirectiveDefault
	case c.words == nil:
		return starting(load.Shipped(), begun), cobra.ShellCompDirectiveDefault
	}
	return starting(c.words, begun), cobra.ShellCompDirectiveNoFileComp
}

// bashCompletion writes the script for bash. That of the library needs a function of the
// package bash-completion; where it is not installed, one of the script's own does it.
func bashCompletion(root *cobra.Command, w io.Writer) error {
	var script bytes.Buffer
	if err := root.GenBashCompletionV2(&script, true); err != nil {
		return err
	}
	text := strings.Replace(script.String(), "_get_comp_words_by_ref \"$@\"", "__poise_words \"$@\"", 1)
	_, err := io.WriteString(w, bashWords+text)
	return err
}

// bashWords splits the line at spaces alone, so that addresses stay whole.
const bashWords = `# The words of the line up to the cursor, by the package bash-completion if it is there.
__poise_words()
{
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@"
        return
    fi
    local line="${COMP_LINE:0:COMP_POINT}"
    read -r -a words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    cword=$((${#words[@]} - 1))
    cur="${words[cword]}"
    prev="${words[cword > 0 ? cword - 1 : 0]}"
}

`

func starting(all []string, begun string) (some []string) {
	for _, word := range all {
		if strings.HasPrefix(word, begun) {
			some = append(some, word)
		}
	}
	return some
}

// servedNames is a list of names that a server has.
type servedNames struct {
	service string // that tells it
	path    string // of the names in its answer, keys with dots between; lists are gone through
	after   int    // so many arguments
	many    bool   // and after those that follow
}

// served are the lists of the arguments of commands.
var served = map[string]servedNames{
	"play":   {service: "motions/list", path: "motions.name"},
	"topic":  {service: "/rosapi/topics", path: "topics", after: 1},
	"call":   {service: "/rosapi/services", path: "services"},
	"goal":   {service: "/rosapi/action_servers", path: "action_servers"},
	"torque": {service: "robot_info", path: "groups.name", after: 1, many: true},
	"pose":   {service: "robot_info", path: "poses.name"},
	"pause":  {service: "get_state", path: "state.controllers.name"},
	"resume": {service: "get_state", path: "state.controllers.name"},
	"speed":  {service: "get_state", path: "state.controllers.name", after: 1},
}

// ask asks the server of a command line; one that does not answer has no names.
func (l *servedNames) ask(cmd *cobra.Command, begun string) []string {
	r := &remote{e: &env{}, server: cmd.Flag("server").Value.String(), robot: cmd.Flag("robot").Value.String()}
	ctx, cancel := context.WithTimeout(context.Background(), completePatience)
	defer cancel()
	c, err := client.Dial(ctx, rosbridgeURL(r.server), client.Options{})
	if err != nil {
		return nil
	}
	defer c.Close()
	text, err := c.Call(ctx, r.service(l.service), nil)
	if err != nil {
		return nil
	}
	var answer any
	if json.Unmarshal(text, &answer) != nil {
		return nil
	}
	names := collect(answer, strings.Split(l.path, "."))
	for i, name := range names {
		if !strings.HasPrefix(begun, "/") { // as people write them
			names[i] = strings.TrimPrefix(name, "/")
		}
	}
	return names
}

// collect returns the texts at the end of a path.
func collect(v any, path []string) (names []string) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			names = append(names, collect(one, path)...)
		}
	case map[string]any:
		if len(path) > 0 {
			return collect(v[path[0]], path[1:])
		}
	case string:
		if len(path) == 0 {
			return []string{v}
		}
	}
	return names
}
