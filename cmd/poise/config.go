package main

import (
	"flag"

	"poise/server/config"
	"poise/servo/driver"
)

// runConfig prints the configuration with all defaults and comments; with a file,
// what that file comes to; or the table of drivers.
func runConfig(e *env, args []string) error {
	fs := flag.NewFlagSet("config", flag.ContinueOnError)
	file := fs.String("config", "", "")
	drivers := fs.Bool("drivers", false, "")
	rest, err := parseFlags(fs, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("takes no argument, got %q", rest[0])
	}
	if *drivers {
		if *file != "" {
			return usagef("--drivers has nothing to do with --config")
		}
		return config.WriteDrivers(e.out, driver.Standard)
	}
	c := config.Default()
	if *file != "" {
		if c, err = config.Load(*file); err != nil {
			return err
		}
	}
	return config.Write(e.out, c)
}
