// Package server puts Poise together: a robot on its cycle, an executive, the
// graph, and an HTTP server that shows the graph to rosbridge clients and the page
// to browsers.
//
//	s, err := server.New(ctx, cfg, server.Options{})
//	err = s.Run(ctx)      // until ctx is done; then goals, ramp, safe state, files
//
// Each robot of the configuration is a driver, a loop and an executive; one thread steps
// all loops. What a robot can do is asked of its driver, never of its name. Everything
// that can be asked for is registered in the graph, once (register.go): topics, commands,
// goals and planning here, stored motions in a package of their own.
//
// There is no private way in: the page and the command line are clients of the wire.
package server
