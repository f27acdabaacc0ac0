// Package config is what can be set of a running Poise: one YAML document, of
// which every key has a default, a unit and a sentence.
//
// The struct is the only description. Write prints it with all defaults and
// comments, Read takes such a document strictly, and a test proves that
// docs/configuration.md says the same.
package config
