package approx

import "testing"

func TestSameText(t *testing.T) {
	for _, tc := range []struct {
		got, want string
		same      bool
	}{
		{`tan="1.0"`, `tan="0.9999999999999999"`, true},
		{"[1.3694384060045657, 'a']", "[1.369438406004566, 'a']", true},
		{"1.2246467991473515e-16", "1.2246467991473532e-16", true},
		{"1.0", "1.000000000000001", false},
		{"1", "1.0", false},
		{"12", "13", false},
		{"a 0.5", "b 0.5", false},
		{"0.5 0.5", "0.5", false},
	} {
		if SameText(tc.got, tc.want) != tc.same {
			t.Errorf("%q and %q: same is not %t", tc.got, tc.want, tc.same)
		}
	}
}
