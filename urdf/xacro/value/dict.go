package value

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Dict is a dictionary that remembers the order of insertion.
type Dict struct {
	keys, values []Value
	at           map[string]int // canonical text of a key → its place
}

// NewDict returns an empty dictionary, to be filled by Set before other code
// sees it.
func NewDict() *Dict { return &Dict{at: map[string]int{}} }

// Set puts a value under a key. A key that is there keeps its place.
func (d *Dict) Set(b *Budget, key, v Value) error {
	k, err := hash(b, key, 0)
	if err != nil {
		return err
	}
	if i, ok := d.at[k]; ok {
		d.values[i] = v
		return nil
	}
	if err := b.items(len(d.keys) + 1); err != nil {
		return err
	}
	d.at[k] = len(d.keys)
	d.keys, d.values = append(d.keys, key), append(d.values, v)
	return nil
}

// Get returns the value under a key.
func (d *Dict) Get(b *Budget, key Value) (Value, bool, error) {
	k, err := hash(b, key, 0)
	if err != nil {
		return nil, false, err
	}
	if i, ok := d.at[k]; ok {
		return d.values[i], true, nil
	}
	return nil, false, nil
}

// Keys and Values return the contents in order; they must not be changed.
func (d *Dict) Keys() []Value   { return d.keys }
func (d *Dict) Values() []Value { return d.values }

// hash writes a key such that equal keys, and only they, have equal texts: 1,
// 1.0 and True are one key.
func hash(b *Budget, v Value, depth int) (string, error) {
	switch v := v.(type) {
	case nil:
		return "n", nil
	case bool, *big.Int:
		n, _ := integer(v)
		return "i" + n.String(), b.Spend(1 + n.BitLen()/64)
	case float64:
		if v == math.Trunc(v) && !math.IsInf(v, 0) {
			n, _ := big.NewFloat(v).Int(nil)
			return "i" + n.String(), b.Spend(1 + n.BitLen()/64)
		}
		return "f" + strconv.FormatFloat(v, 'g', -1, 64), b.Spend(1)
	case string:
		return "s" + v, b.Spend(1 + len(v)/16)
	case Tuple:
		if depth > MaxDepth {
			return "", errDepth
		}
		var text strings.Builder
		for _, x := range v {
			k, err := hash(b, x, depth+1)
			if err == nil {
				err = b.Spend(1 + len(k)/16)
			}
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&text, "%d:%s", len(k), k)
		}
		return "t" + text.String(), nil
	}
	return "", fmt.Errorf("%s cannot be the key of a dict", TypeName(v))
}
