package servotest

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
)

// Packet is bytes that a vendor's manual or library has for a request.
type Packet struct {
	ID     int
	Kind   byte   // instruction or command
	Params string // hexadecimal
	Bytes  string
}

// Unhex reads hexadecimal bytes.
func Unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Packets wants requests to be written as vendors do.
func Packets(t testing.TB, write func(dst []byte, id int, kind byte, params []byte) []byte, all []Packet) {
	t.Helper()
	for _, p := range all {
		if got, want := write(nil, p.ID, p.Kind, Unhex(t, p.Params)), Unhex(t, p.Bytes); !bytes.Equal(got, want) {
			t.Errorf("% X, want % X", got, want)
		}
	}
}

// Garbage wants any bytes to be used up, or to wait for more.
func Garbage(t testing.TB, garbage []byte, split func(data []byte) (used int, ok bool)) {
	t.Helper()
	for rest := garbage; len(rest) > 0; {
		used, ok := split(rest)
		if used < 0 || used > len(rest) || ok && used == 0 {
			t.Fatalf("used %d of %d", used, len(rest))
		}
		if used == 0 {
			return
		}
		rest = rest[used:]
	}
}
