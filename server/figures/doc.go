// Package figures writes what is counted and measured as Prometheus reads it.
package figures
