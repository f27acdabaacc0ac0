package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"poise/wire/ros1/bag"
)

// play publishes the messages of a bag, at the pace at which they were recorded.
func (j *bagJob) play(args []string) error {
	if len(args) == 0 {
		return usagef("FILE is missing")
	}
	b, _, end, err := j.openBag(args[0])
	if err != nil {
		return err
	}
	defer end()
	named := len(args) > 1
	chosen, err := chooseTopics(b, args[1:])
	if err != nil {
		return err
	}
	ctx, stop := untilInterrupted()
	defer stop()
	peer, err := j.peer(ctx)
	if err != nil {
		return err
	}
	defer peer.close()
	publish, err := j.advertise(ctx, peer, b, chosen, named)
	if err != nil {
		return err
	}
	fmt.Fprintf(j.e.err, "poise: bag: playing %d topics of %s to %s; Ctrl-C ends it\n", len(publish), args[0], peer)
	if j.patient {
		if ok, err := peer.heard(ctx); err != nil || !ok {
			return err
		}
	}
	if !pause(ctx, peer, time.Duration(j.delay*float64(time.Second))) {
		return nil
	}
	count, err := j.playAll(ctx, peer, b, publish, named)
	if err != nil {
		return err
	}
	if n := peer.lost(); n > 0 {
		fmt.Fprintf(j.e.err, "poise: bag: %d messages were lost: subscribers were too slow\n", n)
	}
	if j.e.json {
		return encode(j.e.out, map[string]any{"path": args[0], "messages": count})
	}
	fmt.Fprintf(j.e.out, "%d messages\n", count)
	return nil
}

// playAll publishes until the end of the bag or of ctx.
func (j *bagJob) playAll(ctx context.Context, peer bagPeer, b *bag.Bag, publish map[string]func([]byte) error, named bool) (count int, err error) {
	began := time.Now()
	var first int64
	for m, err := range b.Messages(func(c *bag.Connection) bool { return publish[c.Topic] != nil }) {
		if err != nil {
			return count, err
		}
		if count == 0 {
			first = m.Time.Nanoseconds()
		}
		topic := m.Connection.Topic
		if publish[topic] == nil { // left out meanwhile
			continue
		}
		due := time.Duration(float64(m.Time.Nanoseconds()-first) / j.rate)
		if !pause(ctx, peer, due-time.Since(began)) {
			return count, nil
		}
		if err := publish[topic](m.Data); err == nil {
			count++
		} else if err := j.leaveOut(publish, topic, err, named); err != nil {
			return count, err
		}
	}
	return count, nil
}

// pause waits; it reports false if there is nothing to go on for.
func pause(ctx context.Context, peer bagPeer, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-peer.ended():
	}
	return false
}

// chooseTopics returns the topics that are played: those named, or all of the bag.
func chooseTopics(b *bag.Bag, names []string) (map[string]bool, error) {
	chosen := map[string]bool{}
	var have []string
	for _, t := range b.Topics() {
		have = append(have, t.Name)
		if len(names) == 0 {
			chosen[t.Name] = true
		}
	}
	for _, name := range names {
		name = "/" + strings.TrimPrefix(name, "/")
		if !slices.Contains(have, name) {
			return nil, fmt.Errorf("topic %s is not in the bag, which has %s", name, strings.Join(have, ", "))
		}
		chosen[name] = true
	}
	return chosen, nil
}

// untaken is why a server takes nothing on a topic, such as one that is its own.
type untaken struct{ error }

// leaveOut plays the other topics when a server takes nothing on one, and says so. It is an error if the topic was named, or
// no other is left.
func (j *bagJob) leaveOut(publish map[string]func([]byte) error, topic string, err error, named bool) error {
	if _, refused := err.(untaken); !refused || named {
		return fmt.Errorf("%s: %w", topic, err)
	}
	fmt.Fprintf(j.e.err, "poise: bag: %s is left out: %v\n", topic, err)
	if delete(publish, topic); len(publish) == 0 {
		return errors.New("no topic is left to play")
	}
	return nil
}

// advertise announces the chosen topics.
func (j *bagJob) advertise(ctx context.Context, peer bagPeer, b *bag.Bag, chosen map[string]bool, named bool) (map[string]func([]byte) error, error) {
	kinds := map[string]*bag.Connection{}
	for _, c := range b.Connections {
		if !chosen[c.Topic] {
			continue
		}
		if k := kinds[c.Topic]; k == nil {
			one := *c
			kinds[c.Topic] = &one
		} else if k.MD5 != c.MD5 {
			return nil, fmt.Errorf("topic %s is of two types in the bag, %s (%s) and %s (%s): leave it out by naming the others", c.Topic, k.Type, k.MD5, c.Type, c.MD5)
		} else {
			k.Latching = k.Latching || c.Latching
		}
	}
	publish := map[string]func([]byte) error{}
	for topic := range kinds {
		publish[topic] = nil
	}
	for _, topic := range slices.Sorted(maps.Keys(kinds)) {
		f, err := peer.advertise(ctx, kinds[topic])
		if publish[topic] = f; err != nil {
			if err := j.leaveOut(publish, topic, err, named); err != nil {
				return nil, err
			}
		}
	}
	return publish, nil
}
