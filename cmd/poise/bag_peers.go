package main

import (
	"context"
	endian "encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
	"poise/problem"
	"poise/wire/ros1/bag"
	"poise/wire/ros1/raw"
	"poise/wire/ros1/tcpros"
	"poise/wire/rosbridge/client"
)

// bagNode is a ROS 1 network as a bag's other side: messages go as they are.
type bagNode struct {
	n    *raw.Node
	mu   sync.Mutex
	pubs []*raw.Publisher
}

func (p *bagNode) topics(ctx context.Context) ([]string, error) {
	all, err := p.n.Topics(ctx)
	return slices.Sorted(maps.Keys(all)), err
}

func (p *bagNode) read(ctx context.Context, topic string, take func(bag.Connection, []byte)) error {
	return p.n.Subscribe(ctx, topic, func(h tcpros.Header, data []byte) {
		take(bag.Connection{Topic: topic, Type: h["type"], MD5: h["md5sum"], Definition: h["message_definition"],
			Caller: h["callerid"], Latching: h["latching"] == "1"}, data)
	})
}

func (p *bagNode) advertise(ctx context.Context, c *bag.Connection) (func([]byte) error, error) {
	pub, err := p.n.Advertise(ctx, c.Topic, raw.Kind{Type: c.Type, MD5: c.MD5, Definition: c.Definition, Latching: c.Latching})
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.pubs = append(p.pubs, pub)
	p.mu.Unlock()
	return func(data []byte) error {
		pub.Publish(data)
		return nil
	}, nil
}

// heardEvery is how often subscribers are looked for.
const heardEvery = 20 * time.Millisecond

func (p *bagNode) heard(ctx context.Context) (bool, error) {
	p.mu.Lock()
	pubs := p.pubs
	p.mu.Unlock()
	for slices.ContainsFunc(pubs, func(pub *raw.Publisher) bool { return pub.Subscribers() == 0 }) {
		if !pause(ctx, p, heardEvery) {
			return false, nil
		}
	}
	return true, nil
}

func (p *bagNode) lost() (sum uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pub := range p.pubs {
		sum += pub.Lost()
	}
	return sum
}

func (p *bagNode) ended() <-chan struct{} { return p.n.Killed() }

func (p *bagNode) String() string { return "the ROS 1 master at " + p.n.Master() }

// drainWithin is how long subscribers may take for what is on its way.
const drainWithin = 5 * time.Second

func (p *bagNode) close() {
	ctx, cancel := context.WithTimeout(context.Background(), drainWithin)
	defer cancel()
	p.mu.Lock()
	pubs := p.pubs
	p.mu.Unlock()
	for _, pub := range pubs {
		pub.Drain(ctx)
	}
	p.n.Close()
}

// bagServer is a Poise server as a bag's other side: messages are those that both know.
type bagServer struct {
	address string
	c       *client.Client
	missed  atomic.Uint64
	gone    chan struct{}
}

func dialBagServer(address string, e *env) (*bagServer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialPatience)
	defer cancel()
	p := &bagServer{address: address, gone: make(chan struct{})}
	end := sync.OnceFunc(func() { close(p.gone) })
	c, err := client.Dial(ctx, rosbridgeURL(address), client.Options{Changed: func(why error) {
		if why != nil {
			fmt.Fprintf(e.err, "poise: bag: the server at %s is gone: %v\n", address, why)
			end()
		}
	}})
	if err != nil {
		return nil, noServer(address, err)
	}
	p.c = c
	return p, nil
}

// types returns the types of the server's topics.
func (p *bagServer) types(ctx context.Context) (map[string]string, error) {
	text, err := p.c.Call(ctx, "/rosapi/topics", nil)
	if err != nil {
		return nil, err
	}
	var a struct{ Topics, Types []string }
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	if len(a.Topics) != len(a.Types) {
		return nil, fmt.Errorf("the server lists %d topics and %d types", len(a.Topics), len(a.Types))
	}
	all := map[string]string{}
	for i, t := range a.Topics {
		all[t] = a.Types[i]
	}
	return all, nil
}

func (p *bagServer) topics(ctx context.Context) ([]string, error) {
	all, err := p.types(ctx)
	return slices.Sorted(maps.Keys(all)), err
}

// serverQueue is how many messages of a topic wait for the disk.
const serverQueue = 10_000

func (p *bagServer) read(ctx context.Context, topic string, take func(bag.Connection, []byte)) error {
	all, err := p.types(ctx)
	if err != nil {
		return err
	}
	name := all[topic]
	if name == "" {
		return fmt.Errorf("the server at %s has no such topic (poise topic list lists what there is)%s", p.address, problem.Hint(topic, slices.Sorted(maps.Keys(all))))
	}
	typ, _, err := registry.Message(name)
	if err != nil {
		return err
	}
	sub, err := p.c.Subscribe(topic, name, client.SubscribeOptions{Queue: serverQueue})
	if err != nil {
		return err
	}
	c := bag.Connection{Topic: topic, Type: typ.Name(msgs.ROS1), MD5: typ.MD5(), Definition: typ.FullText(msgs.ROS1), Caller: "/poise"}
	headed := strings.HasPrefix(c.Definition, "std_msgs/Header header\n") || strings.HasPrefix(c.Definition, "Header header\n")
	go func() {
		for seq := uint32(1); ; seq++ {
			text, lost, err := sub.Next(ctx)
			if err != nil {
				return // the recording ends
			}
			p.missed.Add(uint64(lost))
			v := typ.New()
			if err := rosjson.UnmarshalJSON(text, v); err != nil {
				p.missed.Add(1)
				continue
			}
			data := codec.For(typ, msgs.ROS1).Append(nil, v)
			if headed && len(data) >= 4 && endian.LittleEndian.Uint32(data) == 0 {
				endian.LittleEndian.PutUint32(data, seq) // JSON of ROS 2 has none
			}
			take(c, data)
		}
	}()
	return nil
}

func (p *bagServer) advertise(ctx context.Context, c *bag.Connection) (func([]byte) error, error) {
	typ, _, err := registry.Message(c.Type)
	if err != nil {
		return nil, fmt.Errorf("%w; over ROS 1 (poise serve --ros1-master) any type is played", err)
	}
	if sum := typ.MD5(); sum != c.MD5 {
		return nil, fmt.Errorf("%s of the bag has md5 sum %s, the server's has %s", c.Type, c.MD5, sum)
	}
	pub, err := p.c.Advertise(c.Topic, typ.Name(msgs.ROS2), c.Latching)
	if err != nil {
		return nil, err
	}
	if _, err := p.types(ctx); err != nil { // answered after what was announced
		return nil, err
	}
	if err := pub.Refused(); err != nil {
		return nil, untaken{err}
	}
	return func(data []byte) error {
		if err := pub.Refused(); err != nil {
			return untaken{err}
		}
		v := typ.New()
		if err := codec.For(typ, msgs.ROS1).Decode(data, v); err != nil {
			return err
		}
		return pub.Publish(client.Text(v, msgs.ROS2))
	}, nil
}

func (p *bagServer) heard(context.Context) (bool, error) {
	return false, usagef("--wait-for-subscribers is for a ROS 1 network: a server does not tell who subscribes")
}

func (p *bagServer) lost() uint64 { return p.missed.Load() }

func (p *bagServer) ended() <-chan struct{} { return p.gone }

func (p *bagServer) String() string { return "the Poise server at " + p.address }

// close lets what was published arrive first: a call is answered after it.
func (p *bagServer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), drainWithin)
	defer cancel()
	_, _ = p.c.Call(ctx, "/rosapi/topics", nil) // a server that is gone has nothing to wait for
	p.c.Close()
}

// stderrLog logs warnings for people.
func stderrLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
