package urdf

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// allocated returns how many bytes f takes from the heap, freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// many joins n pieces made by piece.
func many(n int, piece func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(piece(i))
	}
	return b.String()
}

// ringOfGroups is a chain of groups whose last one contains all others.
func ringOfGroups(n int) string {
	return many(n, func(i int) string {
		return fmt.Sprintf("<group name='%d'><group name='%d'/></group>", i, i+1)
	}) + fmt.Sprintf("<group name='%d'>", n) + many(n, func(i int) string {
		return fmt.Sprintf("<group name='%d'/>", n-i)
	}) + "</group>"
}

// Whatever a file says, reading it takes no more memory than some times the
// largest file allowed, and what is told about it stays readable.
func TestHostileFilesAreRefusedInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); it reads 100 MB")
	}
	const (
		budget  = 24 * (16 << 20)
		message = 1 << 20
	)
	for _, c := range []struct{ name, doc, words string }{
		{"billion laughs", "<!DOCTYPE r [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><robot name='&b;'/>", "document types"},
		{"nested a million deep", "<robot name='r'>" + strings.Repeat("<link>", 1_000_000), "nest deeper"},
		{"attribute of 100 MB", wrap("<link name='" + strings.Repeat("a", 100<<20) + "'/>"), "larger than"},
		{"millions of numbers", linkWith("<visual><origin xyz='" + strings.Repeat("0 ", 7<<20) + "'/></visual>"), "3 numbers"},
		{"number of millions of digits", linkWith("<visual><origin xyz='0 0 " + strings.Repeat("9", 15<<20) + "'/></visual>"), "too large"},
		{"unknown elements of all names", wrap(many(200_000, func(i int) string { return fmt.Sprintf("<x%d/>", i) }) + "<link/>"), "name is missing"},
		{"nothing but errors", wrap(strings.Repeat("<joint/>", 200_000)), "and 799000 more errors"},
		{"groups in rings", wrap(ringOfGroups(40_000)), "contains itself"},
		{"group in itself all over", wrap("<group name='g'>" + strings.Repeat("<group name='g'/>", 100_000) + "</group>"), "contains itself"},
		{"transmission of texts", wrap("<transmission name='t' xmlns:x='u'>" + strings.Repeat("a<x:b/>", 80_000) + "</transmission><link/>"), "name is missing"},
	} {
		var err error
		var warnings []Warning
		read := Parse
		if strings.Contains(c.doc, "<group") {
			read = func(data []byte, file string) (*Document, []Warning, error) {
				_, warnings, err := ParseSRDF(data, file)
				return nil, warnings, err
			}
		}
		data := []byte(c.doc)
		used := allocated(func() { _, warnings, err = read(data, "f") })
		if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: got %.300v", c.name, err)
			continue
		}
		if told := len(err.Error()) + len(fmt.Sprint(warnings)); told > message {
			t.Errorf("%s: messages of %d bytes", c.name, told)
		}
		if used > budget {
			t.Errorf("%s: took %d MB, more than %d MB", c.name, used>>20, budget>>20)
		}
	}
}

// chain makes a robot of n joints in a row, with all that real ones have.
func chain(n int) []byte {
	link := func(i int) string {
		return fmt.Sprintf(`<link name="link%d">
  <inertial><origin xyz="0 0 0.05"/><mass value="0.1"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1e-4"/></inertial>
  <visual><origin xyz="0 0 0.05"/><geometry><cylinder radius="0.02" length="0.1"/></geometry><material name="grey"/></visual>
  <collision><origin xyz="0 0 0.05"/><geometry><cylinder radius="0.02" length="0.1"/></geometry></collision>
</link>
`, i)
	}
	return []byte("<robot name=\"chain\">\n<material name=\"grey\"><color rgba=\".5 .5 .5 1\"/></material>\n" + link(0) + many(n, func(i int) string {
		return fmt.Sprintf(`<joint name="joint%d" type="revolute">
  <parent link="link%d"/><child link="link%d"/>
  <origin xyz="0 0 0.1" rpy="0.01 0 0"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="10" velocity="2"/><dynamics damping="0.1"/>
</joint>
`, i+1, i, i+1) + link(i+1)
	}) + "</robot>\n")
}

func TestLongChainIsRead(t *testing.T) {
	d := mustParse(t, string(chain(2000)))
	if len(d.Links) != 2001 || len(d.Joints) != 2000 || d.Joints[1999].Child != "link2000" {
		t.Fatalf("%d links, %d joints", len(d.Links), len(d.Joints))
	}
	checkPrinted(t, d)
}

func BenchmarkParseChainOf2000(b *testing.B) {
	data := chain(2000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Parse(data, "chain.urdf"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPrintChainOf2000(b *testing.B) {
	d, _, err := Parse(chain(2000), "chain.urdf")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(d.Print()) == 0 {
			b.Fatal("nothing printed")
		}
	}
}

func TestMessagesStayShort(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	_, warnings, err := Parse([]byte(wrap("<link name='a' "+long+"='1'/><joint name='j' type='"+long+"'/><"+long+"/>")), "f")
	longest := 0
	for _, line := range append(strings.Split(err.Error(), "\n"), fmt.Sprint(warnings)) {
		longest = max(longest, len(line))
	}
	if longest > 1000 {
		t.Errorf("a message of %d bytes", longest)
	}
}
