package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"poise/motion/file"
)

// preface begins the page of the docs.
const preface = `# The library

These motions come with the robots. ` + "`poise motions list --robot R`" + ` lists them, ` + "`poise play NAME`" + `
plays one, and a motion of the same name in your own folder takes its place. How the
files look and what the checks mean stands in [motions.md](motions.md).

They can be put one after the other: each ends in the pose in which it began, but for
those whose words say otherwise. All keep to nine tenths of every velocity limit, and
the legs and the neck of the pony to 8 rad/s². Hooves that stand stay within a
millimetre; while one is in the air, the weight has been moved over the other three
first. Tests play every one of them from its start pose to its end.

The pictures show each motion at eight even times, first and last included.

They are written in tools/motions as scores, tracks with a few keys each; the legs
follow in closed form. After a change

    go run ./tools/motions
    go run ./tools/motions -page > docs/library.md
    cd tools/render && npm ci && npm run strips

write the files, this page and the pictures anew. A test says whether files and page
still agree with the scores.
`

// printPage prints the page of the docs.
func printPage(out io.Writer, all []written) error {
	fmt.Fprint(out, preface)
	for i, w := range all {
		if i == 0 || all[i-1].robot != w.robot {
			fmt.Fprintf(out, "\n## %s\n\n", w.robot)
			printTable(out, all, w.robot)
		}
		printMotion(out, &w)
	}
	return nil
}

func printTable(out io.Writer, all []written, robot string) {
	fmt.Fprint(out, "| motion | what it is | s | tags |\n|---|---|---|---|\n")
	for _, w := range all {
		if d := w.document; w.robot == robot {
			fmt.Fprintf(out, "| [%s](#%s) | %s | %s | %s |\n", w.name, w.anchor(all), d.Description, file.Number(d.Duration()), strings.Join(d.Tags, ", "))
		}
	}
}

// anchor is where the heading of a motion is found; the second of a name is numbered.
func (w *written) anchor(all []written) string {
	first := slices.IndexFunc(all, func(x written) bool { return x.name == w.name })
	if all[first].robot != w.robot {
		return w.name + "-1"
	}
	return w.name
}

func printMotion(out io.Writer, w *written) {
	d := w.document
	fmt.Fprintf(out, "\n### %s\n\n%s.\n\n![%s of %s](images/motions/%s_%s.png)\n\n", w.name, d.Description, w.name, w.robot, w.robot, w.name)
	facts := []string{file.Number(d.Duration()) + " s", fmt.Sprintf("%d joints", len(d.Joints)), "begins in `" + d.StartPose + "`"}
	if d.Loop {
		facts = append(facts, "a loop")
	}
	if free := w.lifted(); len(free) > 0 {
		facts = append(facts, "lifts "+strings.Join(free, ", "))
	}
	fmt.Fprintf(out, "%s.\n", strings.Join(facts, ", "))
	if len(d.Events) == 0 {
		return
	}
	fmt.Fprint(out, "Events:")
	for i, e := range d.Events {
		separator := ","
		if i == 0 {
			separator = ""
		}
		fmt.Fprintf(out, "%s\n%s s `%s` %s", separator, file.Number(e.Time), e.Type, e.Command)
	}
	fmt.Fprint(out, ".\n")
}

// lifted lists the limbs that are in the air for some time.
func (w *written) lifted() (names []string) {
	for i, chain := range w.document.Chains {
		for _, p := range w.document.Points {
			if p.Supports[i] == 0 {
				names = append(names, chain)
				break
			}
		}
	}
	return names
}
