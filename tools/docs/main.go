// Command docs writes the tables of docs/ that follow from the code: between the marks
//
//	<!-- table NAME: make docs writes it -->
//	<!-- end -->
//
// stands what the table of controllers and the configuration say.
//
//	go run ./tools/docs        # from the root of the module
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"poise/controllers"
	"poise/msgs"
	"poise/server/config"
)

func main() {
	log.SetFlags(0)
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range files {
		before, err := os.ReadFile(file)
		if err != nil {
			log.Fatal(err)
		}
		after, err := fill(string(before))
		if err != nil {
			log.Fatalf("docs: %s: %v", file, err)
		}
		if after == string(before) {
			continue
		}
		if err := os.WriteFile(file, []byte(after), 0o644); err != nil {
			log.Fatal(err)
		}
		fmt.Println("docs: wrote", file)
	}
}

// tables are what can stand between marks.
var tables = map[string]func() []string{
	"controllers":   controllerRows,
	"streams":       streamRows,
	"actions":       actionRows,
	"operational":   operationalRows,
	"configuration": configurationRows,
}

var mark = regexp.MustCompile(`(?s)(<!-- table (\w+): make docs writes it -->\n).*?(<!-- end -->\n)`)

// fill writes the tables of a document.
func fill(text string) (string, error) {
	var unknown error
	out := mark.ReplaceAllStringFunc(text, func(block string) string {
		parts := mark.FindStringSubmatch(block)
		rows, ok := tables[parts[2]]
		if !ok {
			unknown = fmt.Errorf("there is no table %q", parts[2])
			return block
		}
		return parts[1] + "\n" + strings.Join(rows(), "\n") + "\n\n" + parts[3]
	})
	return out, unknown
}

// row makes a line of a table.
func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }

// code quotes a name.
func code(name string) string { return "`" + name + "`" }

func controllerRows() []string {
	rows := []string{row("controller", "kind", "what it does", "side by side", "priority pending, operational"), "|---|---|---|---|---|"}
	for _, d := range controllers.Table {
		if d.Seats > 0 {
			rows = append(rows, row(code(d.Name), code(d.Kind.Name), d.Short(), fmt.Sprint(d.Seats), fmt.Sprintf("%g, %g", d.Pending, d.Operational)))
		}
	}
	return rows
}

func streamRows() []string {
	rows := []string{row("name", "type", "way, rate", "QoS", "what it is"), "|---|---|---|---|---|"}
	for _, d := range controllers.Table {
		if d.Outside {
			continue // under the names of those who ask
		}
		for _, s := range d.Streams {
			add := func(name, what string) {
				rows = append(rows, row(code(name), code(s.Type), "in, any rate", "best effort, 1", what))
			}
			own := "controllers/" + d.Name + "/" + s.Topic
			add(own, s.Short)
			for _, also := range s.Also {
				add(also, "another name of "+code(own))
			}
		}
	}
	return rows
}

func actionRows() []string {
	rows := []string{row("name", "type", "what it does"), "|---|---|---|"}
	for _, d := range controllers.Table {
		for _, a := range d.Actions {
			rows = append(rows, row(code(a.Name), code(a.Type().Name(msgs.ROS2)), a.Short))
		}
	}
	return rows
}

func operationalRows() []string {
	rows := []string{row("name", "type", "what it does"), "|---|---|---|"}
	for _, d := range controllers.Table {
		if d.Operate != nil && !d.Outside {
			rows = append(rows, row(code("controllers/"+d.Name+"/set_operational"), code("resource_control_msgs/action/SetOperational"), d.Operate.Short))
		}
	}
	return rows
}

func configurationRows() []string {
	rows := []string{row("key", "default", "meaning"), "|---|---|---|"}
	for _, k := range config.Keys() {
		rows = append(rows, row(code(k.Path), code(k.Default), k.Text))
	}
	return rows
}
