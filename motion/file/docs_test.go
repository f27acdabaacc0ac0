package file

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"poise/internal/strictyaml"
)

// keysOf lists every key of a motion file as docs/motions.md writes it.
func keysOf(t reflect.Type, path string) (all []string) {
	for _, key := range strictyaml.Keys(t) {
		field, _ := t.FieldByNameFunc(func(name string) bool {
			f, _ := t.FieldByName(name)
			return f.Tag.Get("yaml") == key
		})
		here := strings.TrimPrefix(path+"."+key, ".")
		switch of := field.Type; {
		case of == reflect.TypeFor[[]joint]():
			all = append(append(all, here+".JOINT"), keysOf(of.Elem(), here+".JOINT")...)
		case of == reflect.TypeFor[strictyaml.Node]():
			all = append(append(all, here), keysOf(reflect.TypeFor[tolerance](), here)...)
		case of == reflect.TypeFor[[]value](): // a mapping of names
			name := ".JOINT"
			if key == "supports" {
				name = ".CHAIN"
			}
			all = append(all, here+name)
		case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Struct:
			all = append(all, keysOf(of.Elem(), here+"[]")...)
		default:
			all = append(all, here)
		}
	}
	return all
}

// TestDocumentationHasEveryKey keeps docs/motions.md and the reader equal: each knows
// every key of the other, in the same order.
func TestDocumentationHasEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../docs/motions.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\|.*\\|.+\\|$").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, m[1])
	}
	want := keysOf(reflect.TypeFor[document](), "")
	if len(want) < 25 || !slices.Equal(documented, want) {
		t.Errorf("docs/motions.md explains\n%s\nthe reader knows\n%s", strings.Join(documented, "\n"), strings.Join(want, "\n"))
	}
}

// TestDocumentedExampleIsReadAndWrittenAsItIs takes the example of the documentation.
func TestDocumentedExampleIsReadAndWrittenAsItIs(t *testing.T) {
	text, err := os.ReadFile("../../docs/motions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, found := strings.Cut(example, "```")
	if !found {
		t.Fatal("docs/motions.md has no example")
	}
	d, err := Read([]byte(example), "example")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(Write(d, []byte(example))); got != example {
		t.Errorf("written as\n%s", got)
	}
}
