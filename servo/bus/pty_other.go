//go:build !linux

package bus

import "errors"

// Pseudo is the far end of a pseudo-terminal; here there is none.
type Pseudo struct {
	Port
	Name string
}

// OpenPseudo fails.
func OpenPseudo() (*Pseudo, error) { return nil, errors.New("pseudo-terminals are made on Linux only") }
