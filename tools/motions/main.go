// Command motions writes the motions that come with the robots.
//
//	go run ./tools/motions [NAME …]               writes motion/shipped/ROBOT/NAME.motion.yaml
//	go run ./tools/motions -frames 8 [NAME …]     prints poses at even times for tools/render
//	go run ./tools/motions -report [NAME …]       prints how near to its limits each motion comes
//	go run ./tools/motions -page                  prints docs/library.md
//
// A motion is written here as a score: tracks with a few keys each, joints, hooves
// and the body beside each other, so that an ear may follow the head a little later
// and the body may sway over hooves that stay where they are. The legs follow in
// closed form. What comes out are plain rows that need none of this any more; a test
// keeps both the same.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"poise/motion"
	"poise/motion/file"
	"poise/robot"
	"poise/robot/load"
)

// scores are the motions of each robot, in the order of the docs.
var scores = []struct {
	robot string
	all   []score
}{
	{"pony", ponyScores},
	{"arm6", armScores},
	{"so101", soScores},
}

// written is a motion that was made of a score.
type written struct {
	robot, name string
	model       *robot.Model
	document    *motion.Document
}

func main() {
	frames := flag.Int("frames", 0, "print so many poses of each motion as JSON")
	report := flag.Bool("report", false, "print how near to its limits each motion comes")
	page := flag.Bool("page", false, "print the page of the docs")
	root := flag.String("root", ".", "root of the module")
	flag.Parse()
	if err := run(*root, *frames, *report, *page, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "motions:", err)
		os.Exit(1)
	}
}

func run(root string, frames int, report, page bool, names []string) error {
	all, err := write(names)
	if err != nil {
		return err
	}
	switch {
	case frames > 0:
		return printFrames(os.Stdout, all, frames)
	case report:
		return printReport(os.Stdout, all)
	case page:
		return printPage(os.Stdout, all)
	}
	for _, w := range all {
		path := filepath.Join(root, "motion", "shipped", w.robot, w.name+file.Extension)
		if err := os.WriteFile(path, file.Write(w.document, nil), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// write performs the scores that are named, all if none is.
func write(names []string) (all []written, err error) {
	for _, of := range scores {
		bot, err := load.Robot(of.robot, load.Options{})
		if err != nil {
			return nil, err
		}
		s, err := newStage(bot.Model)
		if err != nil {
			return nil, err
		}
		for i := range of.all {
			sc := &of.all[i]
			if len(names) > 0 && !slices.Contains(names, sc.name) && !slices.Contains(names, of.robot) {
				continue
			}
			d, err := s.perform(sc)
			if err != nil {
				return nil, fmt.Errorf("%s %w", of.robot, err)
			}
			all = append(all, written{of.robot, sc.name, bot.Model, d})
		}
	}
	return all, nil
}
