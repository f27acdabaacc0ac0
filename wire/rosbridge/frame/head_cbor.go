package frame

import (
	"encoding/binary"
	"encoding/json"
)

// eachPair yields the name and the bytes of every member of the map that a CBOR text is,
// as far as it is one, and until enough says so; it reports whether it is one to its end.
func eachPair(data []byte, enough func(name []byte) bool, yield func(name, value []byte)) (whole bool) {
	major, n, endless, at := cborHeadAt(data, 0)
	if at < 0 || major != majorMap {
		return false
	}
	for i := uint64(0); endless || i < n; i++ {
		if endless && at < len(data) && data[at] == breakStop {
			at++
			break
		}
		end := cborEnd(data, at, 0)
		if end < 0 {
			return false
		}
		name := cborName(data[at:end])
		if enough(name) {
			return false
		}
		if at, end = end, cborEnd(data, end, 0); end < 0 {
			return false
		}
		yield(name, data[at:end])
		at = end
	}
	return at == len(data)
}

// cborHeadAt reads the head of an item: its major type, its argument, whether it has a
// length, and where the head ends, -1 if it is not a head.
func cborHeadAt(data []byte, at int) (major byte, n uint64, endless bool, end int) {
	if at >= len(data) {
		return 0, 0, false, -1
	}
	major = data[at] & 0xe0
	info, rest := data[at]&0x1f, data[at+1:]
	end = at + 1
	switch {
	case info < 24:
		return major, uint64(info), false, end
	case info == 24 && len(rest) >= 1:
		return major, uint64(rest[0]), false, end + 1
	case info == 25 && len(rest) >= 2:
		return major, uint64(binary.BigEndian.Uint16(rest)), false, end + 2
	case info == 26 && len(rest) >= 4:
		return major, uint64(binary.BigEndian.Uint32(rest)), false, end + 4
	case info == 27 && len(rest) >= 8:
		return major, binary.BigEndian.Uint64(rest), false, end + 8
	case info == 31 && major >= majorBytes && major <= majorMap:
		return major, 0, true, end
	}
	return 0, 0, false, -1
}

// cborEnd returns the end of the item that begins at a place, -1 if it has none, or is
// nested too deeply.
func cborEnd(data []byte, at, depth int) int {
	if depth > maxNesting {
		return -1
	}
	major, n, endless, at := cborHeadAt(data, at)
	if at < 0 {
		return -1
	}
	switch major {
	case majorBytes, majorText:
		if !endless {
			if n > uint64(len(data)-at) {
				return -1
			}
			return at + int(n)
		}
	case majorMap:
		if n > uint64(len(data)) {
			return -1
		}
		n *= 2
	case majorArray:
	case majorTag:
		return cborEnd(data, at, depth+1)
	default: // numbers, true, false, null
		return at
	}
	for i := uint64(0); endless || i < n; i++ {
		if endless && at < len(data) && data[at] == breakStop {
			return at + 1
		}
		if at = cborEnd(data, at, depth+1); at < 0 {
			return -1
		}
	}
	return at
}

// cborName returns a text that is short enough for a name; nil for anything else.
func cborName(item []byte) []byte {
	major, _, endless, at := cborHeadAt(item, 0)
	switch {
	case at < 0 || major != majorText:
		return nil
	case !endless:
		return item[at:]
	}
	var s string
	if len(item) > 100 || json.Unmarshal(cborText(item), &s) != nil {
		return nil
	}
	return []byte(s)
}

// cborText returns an item as JSON; nil if a message cannot hold it.
func cborText(item []byte) []byte {
	t := transcoder{rest: item, most: maxShortText}
	t.value(0)
	if t.problem != nil || t.broken != nil {
		return nil
	}
	return t.text
}
