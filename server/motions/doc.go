// Package motions is the library of stored motions as services: list, get, put, delete
// and rename with versions, lint, sample, edit, exchange with files and goals, and keeping
// the last trajectory that was played or planned.
package motions
