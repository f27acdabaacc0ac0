// Package server puts Poise together: robots on their cycles with their executives, the
// graph, and an HTTP server for rosbridge clients and browsers.
//
//	s, err := server.New(ctx, cfg, server.Options{})
//	err = s.Run(ctx)      // until ctx is done; then goals, ramp, safe state, files
//
// Each robot of the configuration is a driver, a loop and an executive; one thread steps
// all loops. What a robot can do depends on its driver, never on its name. Topics,
// services and actions are registered in the graph once (register.go), those of stored
// motions by package motions.
//
// There is no private way in: the page and the command line are clients of the wire.
package server
