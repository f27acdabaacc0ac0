package config

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Write prints a configuration as the document that Read takes, each key below
// the sentence that explains it.
func Write(w io.Writer, c Config) error {
	var b strings.Builder
	b.WriteString("# Configuration of poise serve, with every key. Leave out what shall keep its default.\n\n")
	writeStruct(&b, reflect.ValueOf(c), 0)
	_, err := io.WriteString(w, b.String())
	return err
}

func writeStruct(b *strings.Builder, v reflect.Value, depth int) {
	indent := strings.Repeat("  ", depth)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if text := field.Tag.Get("doc"); text != "" {
			if depth == 0 && i > 0 && field.Type.Kind() == reflect.Struct {
				b.WriteByte('\n')
			}
			fmt.Fprintf(b, "%s# %s\n", indent, text)
		}
		fmt.Fprintf(b, "%s%s:", indent, field.Tag.Get("yaml"))
		if field.Type.Kind() == reflect.Struct {
			b.WriteByte('\n')
			writeStruct(b, v.Field(i), depth+1)
			continue
		}
		fmt.Fprintf(b, " %s\n", scalar(v.Field(i)))
	}
}

// scalar prints a value so that it reads back as itself.
func scalar(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.String:
		text, err := yaml.Marshal(v.String())
		if err != nil {
			panic("config: " + err.Error()) // text always can be written
		}
		return strings.TrimSpace(string(text))
	case reflect.Slice:
		var items []string
		for i := range v.Len() {
			items = append(items, scalar(v.Index(i)))
		}
		return "[" + strings.Join(items, ", ") + "]"
	default:
		return fmt.Sprint(v.Interface())
	}
}

// Key is one line of the reference: a key, its default and what it means.
type Key struct{ Path, Default, Text string }

// Keys lists every key, in the order of the document.
func Keys() (all []Key) {
	var walk func(v reflect.Value, prefix, text string)
	walk = func(v reflect.Value, prefix, above string) {
		for i := range v.NumField() {
			field := v.Type().Field(i)
			path, text := prefix+field.Tag.Get("yaml"), field.Tag.Get("doc")
			if field.Type.Kind() == reflect.Struct {
				walk(v.Field(i), path+".", text)
				continue
			}
			if text == "" {
				text = above
			}
			all = append(all, Key{path, scalar(v.Field(i)), text})
		}
	}
	walk(reflect.ValueOf(Default()), "", "")
	return all
}
