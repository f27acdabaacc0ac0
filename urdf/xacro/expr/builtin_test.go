package expr

import (
	"math/big"
	"strings"
	"testing"

	"poise/urdf/xacro/value"
)

func call(t *testing.T, name string, args ...value.Value) value.Value {
	t.Helper()
	f, ok := Global(name)
	if !ok {
		f, ok = Python(name)
	}
	if !ok {
		t.Fatalf("there is no function %s", name)
	}
	v, err := f.(*Func).Call(value.NewBudget(plenty), Args{Pos: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// TestPascal: C(n,k) = C(n−1,k−1) + C(n−1,k), and P(n,k) = C(n,k)·k!
func TestPascal(t *testing.T) {
	for n := 1; n < 40; n++ {
		for k := 1; k <= n; k++ {
			whole := call(t, "comb", value.Int(n), value.Int(k)).(*big.Int)
			left := call(t, "comb", value.Int(n-1), value.Int(k-1)).(*big.Int)
			right := call(t, "comb", value.Int(n-1), value.Int(k)).(*big.Int)
			if new(big.Int).Add(left, right).Cmp(whole) != 0 {
				t.Fatalf("comb(%d, %d) = %v is not %v + %v", n, k, whole, left, right)
			}
			perm := call(t, "perm", value.Int(n), value.Int(k)).(*big.Int)
			factorial := call(t, "factorial", value.Int(k)).(*big.Int)
			if new(big.Int).Mul(whole, factorial).Cmp(perm) != 0 {
				t.Fatalf("perm(%d, %d) = %v", n, k, perm)
			}
		}
	}
}

func TestSplitAndJoinInvert(t *testing.T) {
	for _, s := range []string{"", "a", ",", "a,b", ",a,,b,", "é,ü"} {
		parts, err := Method(s, "split").(*Func).Call(value.NewBudget(plenty), Args{Pos: []value.Value{","}})
		if err != nil {
			t.Fatal(err)
		}
		back, err := Method(",", "join").(*Func).Call(value.NewBudget(plenty), Args{Pos: []value.Value{parts}})
		if err != nil || back != s {
			t.Errorf("%q splits into %v and joins to %q, %v", s, parts, back, err)
		}
	}
}

// TestNothingChangesAnything: no function reaches a method that mutates.
func TestNothingChangesAnything(t *testing.T) {
	for _, v := range []value.Value{value.List{}, value.NewDict(), "", value.Tuple{}} {
		for _, name := range strings.Fields("append extend insert remove pop clear sort reverse update setdefault popitem format format_map __class__ __init__") {
			if Method(v, name) != nil {
				t.Errorf("%s has a method %s", value.TypeName(v), name)
			}
		}
	}
}

func TestArgumentsAreChecked(t *testing.T) {
	b := value.NewBudget(plenty)
	var named Args
	if err := named.Name(b, "reverse", true); err != nil {
		t.Fatal(err)
	}
	if err := named.Name(b, "reverse", true); err == nil {
		t.Error("a name is accepted twice")
	}
	length, _ := Global("len")
	for _, a := range []Args{{}, {Pos: []value.Value{"a", "b"}}, {Pos: []value.Value{"a"}, names: named.names, named: named.named}} {
		if v, err := length.(*Func).Call(b, a); err == nil {
			t.Errorf("len of %d arguments gives %v", len(a.Pos), v)
		}
	}
}
