package ros1

import (
	"fmt"
	"strings"

	"poise/graph"
	"poise/wire/rosnet"
)

// Names says how the names of the graph appear in ROS.
type Names = rosnet.Names

// globals are the topics that ROS 1 has once, whatever the namespace.
var globals = map[string]bool{"/tf": true, "/tf_static": true, "/rosout": true, "/rosout_agg": true, "/clock": true}

// ReadNames reads what a ROS node is told on its command line: words (__ns:=/robot1,
// __name:=left, _rate:=100) and remaps (a:=b). Parameters are returned as their texts, by
// their names without the underscore.
func ReadNames(words, remaps []string) (n Names, params map[string]string, err error) {
	n = Names{Namespace: "/", Node: "poise", Remaps: map[string]string{}}
	params = map[string]string{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, ":=")
		switch {
		case !ok || value == "":
			return n, nil, fmt.Errorf("%q is no name:=value", word)
		case key == "__ns":
			if n.Namespace, err = cleanNamespace(value); err != nil {
				return n, nil, err
			}
		case key == "__name":
			if _, err := graph.Clean(value); err != nil || strings.Contains(value, "/") {
				return n, nil, fmt.Errorf("%s: a node's own name has letters, digits and _, and no slash", word)
			}
			n.Node = value
		case key == "__log", key == "__master", key == "__ip", key == "__hostname":
			return n, nil, fmt.Errorf("%s: %s is not taken here; use the environment (ROS_MASTER_URI, ROS_IP, ROS_HOSTNAME)", word, key)
		case strings.HasPrefix(key, "__"):
			return n, nil, fmt.Errorf("%s: %s is unknown (__ns, __name)", word, key)
		default:
			name := strings.TrimPrefix(key, "_")
			if _, err := graph.Clean(name); err != nil {
				return n, nil, fmt.Errorf("%s: %w", word, err)
			}
			params[name] = value
		}
	}
	for _, remap := range remaps {
		from, to, ok := strings.Cut(remap, ":=")
		if !ok {
			return n, nil, fmt.Errorf("remap %q is no from:=to", remap)
		}
		if from, err = n.Resolve(from); err != nil {
			return n, nil, fmt.Errorf("remap %q: %w", remap, err)
		}
		if n.Remaps[from], err = n.Resolve(to); err != nil {
			return n, nil, fmt.Errorf("remap %q: %w", remap, err)
		}
	}
	return n, params, nil
}

func cleanNamespace(text string) (string, error) {
	if strings.Trim(text, "/") == "" {
		return "/", nil
	}
	return graph.Clean(strings.TrimSuffix(text, "/"))
}
