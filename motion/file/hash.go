package file

import "strings"

// hashesOf finds the column where the comment of each line begins, −1 if it has none:
// a hash at the beginning or after a space, outside quotes and outside the lines of a
// text block.
func hashesOf(lines []string) []int {
	at := make([]int, len(lines))
	var quote byte // that is open
	block := -1    // indent of the key whose text block runs; −1 for none
	for i, line := range lines {
		at[i] = -1
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if block >= 0 && (indent > block || strings.TrimSpace(line) == "") {
			continue
		}
		block = -1
		at[i], quote = hash(line, quote)
		text := line
		if at[i] >= 0 {
			text = line[:at[i]]
		}
		text = strings.TrimRight(text, " \t\r")
		if k := strings.LastIndexByte(text, ' '); quote == 0 && k >= 0 && k+1 < len(text) && (text[k+1] == '|' || text[k+1] == '>') {
			block = indent
		}
	}
	return at
}

// hash scans one line, which may begin inside a quote, and returns where its comment
// begins and the quote that is open at its end.
func hash(line string, quote byte) (int, byte) {
	fresh := true // a token may begin here
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '"' && c == '\\':
			i++
		case quote == '\'' && c == '\'' && i+1 < len(line) && line[i+1] == '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
			fresh = false
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return i, 0
		case fresh && (c == '"' || c == '\''):
			quote = c
		default:
			fresh = strings.IndexByte(" \t[{,:-", c) >= 0
		}
	}
	return -1, quote
}
