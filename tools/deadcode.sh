#!/usr/bin/env bash
# Fails where a function is reached by no program of the module and tools/deadcode.allowed
# does not say why it stays, and where that list names what is gone or reached by now.
# Packages that only tests import are left out (testOnly in layers_test.go).
#
#   tools/deadcode.sh COMMAND…     the command that lists unreachable functions
set -u
list=$(mktemp)
trap 'rm -f "$list"' EXIT
"$@" ./... >"$list" || exit 1
testOnly=$(sed -n 's/^var testOnly = .*{\(.*\)}/\1/p' layers_test.go | tr -d '" ' | tr ',' '|')
grep -vE "^($testOnly)/" "$list" |
	awk -v allowed=tools/deadcode.allowed '
		BEGIN {
			while ((getline line < allowed) > 0) {
				if (line ~ /^#/ || line == "") continue
				split(line, f, " ")
				# each alternative of a pattern is a row of its own, so that none stays when it is not needed
				depth = 0; part = ""
				for (i = 1; i <= length(f[2]) + 1; i++) {
					c = substr(f[2], i, 1)
					if (c == "(") depth++
					if (c == ")") depth--
					if (c == "" || c == "|" && depth == 0) { count++; folder[count] = f[1]; name[count] = part; part = "" }
					else part = part c
				}
			}
		}
		{
			path = $1
			sub(/\/[^\/]*$/, "", path)
			found = 0
			for (i = 1; i <= count; i++)
				if (path == folder[i] && $NF ~ ("^(" name[i] ")$")) { found = 1; used[i] = 1 }
			if (!found) { print "unreachable: " path " " $NF " (" $1 ")"; bad = 1 }
		}
		END {
			for (i = 1; i <= count; i++)
				if (!used[i]) { print "tools/deadcode.allowed lists " folder[i] " " name[i] ", which is gone or reached"; bad = 1 }
			exit bad
		}'
