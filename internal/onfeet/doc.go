// Package onfeet is what tests judge robots on feet by: a squat on all of them, lifts of single
// hooves, and the balance of forces at rest, by which such a robot gives way to a push.
package onfeet
