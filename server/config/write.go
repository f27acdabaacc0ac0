package config

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"poise/servo/driver"
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

// WriteDrivers prints the drivers of a table, each with its settings, their defaults and
// what they mean.
func WriteDrivers(w io.Writer, drivers driver.Table) error {
	var b strings.Builder
	b.WriteString("# Drivers that a robot of the configuration can have, and the settings of each.\n")
	for _, e := range drivers {
		fmt.Fprintf(&b, "\n# %s\n%s:\n", e.Text, e.Name)
		writeStruct(&b, reflect.ValueOf(e.Settings()).Elem(), 1)
	}
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
		if all, ok := v.Field(i).Interface().(Controllers); ok {
			b.WriteByte('\n')
			all.write(b, indent+"  ")
			continue
		}
		if robots, ok := v.Field(i).Interface().([]Robot); ok {
			b.WriteByte('\n')
			for _, r := range robots {
				writeRobot(b, r, depth+1)
			}
			continue
		}
		if field.Type.Kind() == reflect.Struct {
			b.WriteByte('\n')
			writeStruct(b, v.Field(i), depth+1)
			continue
		}
		fmt.Fprintf(b, " %s\n", scalar(v.Field(i)))
	}
}

// writeRobot prints an item of the list of robots.
func writeRobot(b *strings.Builder, r Robot, depth int) {
	indent := strings.Repeat("  ", depth)
	fmt.Fprintf(b, "%s- name: %s\n", indent, scalar(reflect.ValueOf(r.Name)))
	fmt.Fprintf(b, "%s  driver: %s\n", indent, scalar(reflect.ValueOf(r.Driver)))
	if r.Settings != nil {
		fmt.Fprintf(b, "%s  settings:\n", indent)
		writeStruct(b, reflect.ValueOf(r.Settings).Elem(), depth+2)
	}
	section := ""
	for _, k := range r.keys() {
		name := k.Path
		if above, own, nested := strings.Cut(k.Path, "."); nested {
			if above != section {
				section = above
				fmt.Fprintf(b, "%s  %s:\n", indent, section)
			}
			name = "  " + own
		}
		fmt.Fprintf(b, "%s  %s: %s\n", indent, name, k.Default)
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
		if robots, ok := v.Interface().([]Robot); ok { // with the defaults of their drivers
			for _, r := range robots {
				items = append(items, fmt.Sprintf("{name: %s, driver: %s}", r.Name, r.Driver))
			}
			return "[" + strings.Join(items, ", ") + "]"
		}
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
func Keys() []Key { return keysOf(reflect.ValueOf(Default()), "", "") }

// SettingsKeys lists the keys of a driver's settings.
func SettingsKeys(e driver.Entry) []Key { return keysOf(reflect.ValueOf(e.Settings()).Elem(), "", "") }

// keysOf lists the keys of a struct; above is the text of keys that have none.
func keysOf(v reflect.Value, prefix, above string) (all []Key) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Tag.Get("yaml") == "-" { // not of the document
			continue
		}
		path, text := prefix+field.Tag.Get("yaml"), field.Tag.Get("doc")
		if field.Type.Kind() == reflect.Struct {
			all = append(all, keysOf(v.Field(i), path+".", text)...)
			continue
		}
		if each, ok := v.Field(i).Interface().(Controllers); ok {
			for _, c := range each {
				all = append(all, Key{path + "." + c.Name, c.String(), text})
			}
			continue
		}
		if text == "" {
			text = above
		}
		all = append(all, Key{path, scalar(v.Field(i)), text})
	}
	return all
}
