package library

// Interrupt lets a test stop a writer at each step.
func (l *Library) Interrupt(f func(step string)) { l.interrupt = f }
