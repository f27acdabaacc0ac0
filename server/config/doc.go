// Package config is the configuration of poise serve: one YAML document in which every
// key has a default, a unit and an explanation.
//
// The struct and its tags are the only description: yaml is the key, doc the explanation,
// range the limits of a number. Write prints it with all defaults and comments, Read
// decodes such a document strictly, and a test compares docs/configuration.md with it.
// Settings of a robot's driver are structs of the same kind, from the table of drivers.
package config
