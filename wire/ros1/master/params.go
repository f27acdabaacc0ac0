package master

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"poise/wire/ros1/xmlrpc"
)

// Bounds of parameters.
const (
	maxParamBytes   = 64 << 20 // of all of them, about
	maxParams       = 65536
	maxParamDepth   = 32
	maxParamWatches = 65536
)

// params is a tree of parameters: a map for every namespace.
type params struct {
	root    map[string]any
	bytes   int // at most so many, and parameters
	leaves  int
	watches map[string][]watch // by key
	watched int
}

// watch is a node that is told of a parameter.
type watch struct{ node, uri string }

func newParams() *params { return &params{root: map[string]any{}, watches: map[string][]watch{}} }

// words returns the names on the way to a parameter.
func words(key string) []string {
	key = strings.Trim(key, "/")
	if key == "" {
		return nil
	}
	return strings.Split(key, "/")
}

// get returns a parameter, or a namespace as a map.
func (p *params) get(key string) (v any, ok bool) {
	v = p.root
	for _, w := range words(key) {
		m, isMap := v.(map[string]any)
		if !isMap {
			return nil, false
		}
		if v, ok = m[w]; !ok {
			return nil, false
		}
	}
	return v, true
}

// set puts a value; namespaces on the way are made, and replace values that stand there.
func (p *params) set(key string, value any) error {
	path := words(key)
	size, leaves, depth := weigh(value)
	size += 64 * len(path)
	if p.bytes+size > maxParamBytes || p.leaves+leaves > maxParams {
		p.bytes, p.leaves, _ = weigh(p.root) // what was replaced and deleted is counted out
		if old, had := p.get(key); had {
			gone, count, _ := weigh(old)
			p.bytes, p.leaves = p.bytes-gone, p.leaves-count
		}
	}
	switch {
	case p.bytes+size > maxParamBytes:
		return refusef("parameters take at most %d bytes in all", maxParamBytes)
	case p.leaves+leaves > maxParams:
		return refusef("there are at most %d parameters", maxParams)
	case len(path)+depth > maxParamDepth:
		return refusef("parameters nest at most %d deep", maxParamDepth)
	}
	if len(path) == 0 {
		m, ok := value.(map[string]any)
		if !ok {
			return refusef("cannot set root of parameter tree to non-dictionary")
		}
		p.root = m
	} else {
		at := p.root
		for _, w := range path[:len(path)-1] {
			next, ok := at[w].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[w] = next
			}
			at = next
		}
		at[path[len(path)-1]] = value
	}
	p.bytes, p.leaves = p.bytes+size, p.leaves+leaves
	return nil
}

// weigh returns how much a value is: bytes, about, parameters, and how deep.
func weigh(v any) (size, leaves, depth int) {
	switch x := v.(type) {
	case map[string]any:
		for name, item := range x {
			s, l, d := weigh(item)
			size, leaves, depth = size+s+len(name)+64, leaves+l, max(depth, d+1)
		}
		return size, max(leaves, 1), depth
	case []any:
		for _, item := range x {
			s, _, _ := weigh(item)
			size += s
		}
		return size + 32, 1, 0
	case string:
		return len(x) + 32, 1, 0
	case []byte:
		return len(x) + 32, 1, 0
	}
	return 32, 1, 0
}

func (p *params) remove(key string) bool {
	path := words(key)
	if len(path) == 0 {
		return false
	}
	v, ok := p.get(strings.Join(path[:len(path)-1], "/"))
	m, isMap := v.(map[string]any)
	last := path[len(path)-1]
	if _, has := m[last]; !ok || !isMap || !has {
		return false
	}
	delete(m, last)
	return true
}

// names returns all parameters in full.
func (p *params) names() []string {
	var out []string
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			out = append(out, prefix)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			walk(prefix+"/"+name, m[name])
		}
	}
	walk("", p.root)
	return out
}

// clone copies a value whose maps may change while the copy is sent.
func clone(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for name, item := range m {
		out[name] = clone(item)
	}
	return out
}

// unwatchAll ends what a node watches.
func (p *params) unwatchAll(node string, left func()) {
	for key, list := range p.watches {
		p.watches[key] = slices.DeleteFunc(list, func(w watch) bool {
			if w.node == node {
				p.watched--
				left()
			}
			return w.node == node
		})
		if len(p.watches[key]) == 0 {
			delete(p.watches, key)
		}
	}
}

// changed tells those that watch a parameter, a namespace that it is in, or something
// inside it. The lock of m is held.
func (m *Master) changed(key string, value any) {
	for watched, list := range m.params.watches {
		said, v := key, value
		switch {
		case key == watched || strings.HasPrefix(key, strings.TrimSuffix(watched, "/")+"/"):
		case strings.HasPrefix(watched, strings.TrimSuffix(key, "/")+"/"):
			said = watched
			if v, _ = m.params.get(watched); v == nil {
				v = map[string]any{} // as rosmaster says of what is not there
			}
		default:
			continue
		}
		for _, w := range list {
			m.tell.param(w.uri, said, clone(v))
		}
	}
}

func (m *Master) setParam(args []any) (answer, error) {
	if len(args) != 3 {
		return answer{}, refusef("ERROR: want caller_id, key, value, got %d arguments", len(args))
	}
	a, err := texts(args[:2], "caller_id", "key")
	if err != nil {
		return answer{}, err
	}
	key, err := resolve(a[1], a[0])
	if err != nil {
		return answer{}, err
	}
	if err := xmlrpc.Check(args[2]); err != nil {
		return answer{}, refusef("ERROR: %v", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.params.set(key, args[2]); err != nil {
		return answer{}, err
	}
	m.changed(key, args[2])
	return answer{fmt.Sprintf("parameter %s set", key), 0}, nil
}

// keyed reads the arguments of calls that name a caller and a key.
func keyed(args []any) (caller, key string, err error) {
	a, err := texts(args, "caller_id", "key")
	if err != nil {
		return "", "", err
	}
	key, err = resolve(a[1], a[0])
	return a[0], key, err
}

func (m *Master) getParam(args []any) (answer, error) {
	_, key, err := keyed(args)
	if err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.params.get(key)
	if !ok {
		return answer{}, refusef("Parameter [%s] is not set", key)
	}
	return answer{"Parameter [" + key + "]", clone(v)}, nil
}

func (m *Master) hasParam(args []any) (answer, error) {
	_, key, err := keyed(args)
	if err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.params.get(key)
	return answer{key, ok}, nil
}

func (m *Master) deleteParam(args []any) (answer, error) {
	_, key, err := keyed(args)
	if err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.params.remove(key) {
		return answer{}, refusef("parameter [%s] is not set", key)
	}
	m.changed(key, map[string]any{})
	return answer{fmt.Sprintf("parameter %s deleted", key), 0}, nil
}

// searchParam looks for a parameter in the caller's namespaces, from the innermost outwards.
// Only the first word of the key is looked for, as in rosmaster.
func (m *Master) searchParam(args []any) (answer, error) {
	a, err := texts(args, "caller_id", "key")
	if err != nil {
		return answer{}, err
	}
	caller, key := a[0], a[1]
	if key == "" || strings.HasPrefix(key, "~") {
		return answer{}, refusef("ERROR: key [%s] cannot be searched", key)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if strings.HasPrefix(key, "/") {
		if _, ok := m.params.get(key); ok {
			return answer{"Found [" + key + "]", key}, nil
		}
		return answer{}, refusef("Cannot find parameter [%s] in an upwards search", key)
	}
	first, _, _ := strings.Cut(key, "/")
	for at := "/" + strings.Trim(caller, "/"); ; at = at[:max(strings.LastIndexByte(at, '/'), 0)] {
		base := strings.TrimSuffix(at, "/") + "/"
		if _, ok := m.params.get(base + first); ok {
			return answer{"Found [" + base + key + "]", base + key}, nil
		}
		if at == "" || at == "/" {
			return answer{}, refusef("Cannot find parameter [%s] in an upwards search", key)
		}
	}
}

func (m *Master) getParamNames(args []any) (answer, error) {
	if _, err := texts(args, "caller_id"); err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return answer{"Parameter names", strings2any(m.params.names())}, nil
}

func (m *Master) subscribeParam(args []any) (answer, error) {
	a, err := texts(args, "caller_id", "caller_api", "key")
	if err != nil {
		return answer{}, err
	}
	key, err := resolve(a[2], a[0])
	if err == nil {
		err = checkURI(a[1], "http")
	}
	if err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	w := watch{a[0], a[1]}
	if n := m.nodes[a[0]]; n == nil || n.uri != a[1] || !slices.Contains(m.params.watches[key], w) {
		if m.params.watched >= maxParamWatches {
			return answer{}, refusef("parameters are watched %d times, the limit is %d", m.params.watched, maxParamWatches)
		}
		if _, err := m.join(a[0], a[1]); err != nil {
			return answer{}, err
		}
		m.params.watches[key] = append(m.params.watches[key], w)
		m.params.watched++
	}
	v, ok := m.params.get(key)
	if !ok {
		v = map[string]any{}
	}
	return answer{fmt.Sprintf("Subscribed to parameter [%s]", key), clone(v)}, nil
}

func (m *Master) unsubscribeParam(args []any) (answer, error) {
	a, err := texts(args, "caller_id", "caller_api", "key")
	if err != nil {
		return answer{}, err
	}
	key, err := resolve(a[2], a[0])
	if err != nil {
		return answer{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.Index(m.params.watches[key], watch{a[0], a[1]})
	if at < 0 {
		return answer{fmt.Sprintf("[%s] is not subscribed to [%s]", a[0], key), 0}, nil
	}
	m.params.watches[key] = slices.Delete(m.params.watches[key], at, at+1)
	if len(m.params.watches[key]) == 0 {
		delete(m.params.watches, key)
	}
	m.params.watched--
	m.leave(a[0])
	return answer{fmt.Sprintf("Unsubscribe to parameter [%s]", key), 1}, nil
}
