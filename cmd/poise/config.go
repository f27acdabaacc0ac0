package main

import (
	"bytes"
	"io"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"poise/server/config"
	"poise/servo/driver"
)

// configCommand prints the configuration with all defaults and comments; with a file,
// what that file comes to; or the table of drivers.
func configCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	file := fs.String("config", "", "what this `file` comes to, instead of the defaults")
	drivers := fs.Bool("drivers", false, "the drivers that a robot can have, with their settings")
	return func(rest []string) (err error) {
		if len(rest) > 0 {
			return usagef("takes no argument, got %q", rest[0])
		}
		if *drivers {
			if *file != "" {
				return usagef("--drivers has nothing to do with --config")
			}
			return e.settings("the drivers and their settings", func(w io.Writer) error { return config.WriteDrivers(w, driver.Standard) })
		}
		c := config.Default()
		message := "the defaults of the configuration"
		if *file != "" {
			if c, err = config.Load(*file); err != nil {
				return err
			}
			message = "the configuration of " + *file
		}
		return e.settings(message, func(w io.Writer) error { return config.Write(w, c) })
	}
}

// settings prints what write writes, which is YAML, for programs as JSON.
func (e *env) settings(message string, write func(w io.Writer) error) error {
	if !e.json {
		return write(e.out)
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	var values map[string]any
	if err := yaml.Unmarshal(text.Bytes(), &values); err != nil {
		return err
	}
	return encode(e.out, struct {
		answered
		Settings map[string]any `json:"settings"`
	}{answered{true, message}, values})
}
