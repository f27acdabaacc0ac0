//go:build !unix

package library

import (
	"fmt"
	"io"
	"os"
)

// readPlain reads a plain file that is at most so long.
func readPlain(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	at, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !at.Mode().IsRegular():
		return nil, fmt.Errorf("%s: no plain file", path)
	case at.Size() > most:
		return nil, fmt.Errorf("%s: %d bytes; a motion has at most %d", path, at.Size(), most)
	}
	return io.ReadAll(io.LimitReader(f, most))
}
