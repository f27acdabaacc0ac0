// Package server puts Poise together: a robot on its cycle, an executive, the
// graph, and an HTTP server that shows the graph to rosbridge clients and the page
// to browsers.
//
//	s, err := server.New(cfg, server.Options{})
//	err = s.Run(ctx)      // until ctx is done; then goals, ramp, safe state, files
//
// Each robot instance, the virtual one and the one that plays the real one, is a
// loop with an executive of its own; one thread steps them all. Everything that can
// be asked for is registered in the graph, once (register.go): topics, commands,
// goals and planning here, stored motions in a package of their own.
//
// There is no private way in: the page and the command line are clients of the wire.
package server
