package load

import (
	"fmt"
	"slices"
	"strings"

	"poise/internal/xmltree"
	"poise/problem"
	"poise/urdf"
	"poise/urdf/xacro"
)

// readURDF reads the robot description and expands it if need be; nil on an
// error.
func (l *loader) readURDF(name string, at problem.Pos) *urdf.Document {
	data := l.content(name, at)
	if data == nil {
		return nil
	}
	l.file = name
	var doc *urdf.Document
	var warnings []urdf.Warning
	var err error
	if xacro.Needed(name, data) {
		doc, warnings, err = l.expand(name)
	} else {
		for _, a := range slices.Concat(l.described.XacroArguments, l.opts.Arguments) {
			l.fail(fmt.Errorf("%s: argument %q: only xacro files take arguments", name, a.Name))
		}
		doc, warnings, err = urdf.Parse(data, name)
		l.text = data
	}
	l.warn(warnings)
	l.fail(err)
	return doc // beside an error what could be read: the robot may have more of them
}

func (l *loader) expand(name string) (*urdf.Document, []urdf.Warning, error) {
	args := map[string]string{}
	for _, a := range l.described.XacroArguments {
		args[a.Name] = a.Value
	}
	for _, a := range l.opts.Arguments {
		args[a.Name] = a.Value
	}
	result, err := xacro.Expand(name, xacro.Config{Files: l.files, Args: args, Env: l.opts.Env})
	if err != nil {
		return nil, nil, err
	}
	for _, w := range result.Warnings {
		l.warnings = append(l.warnings, w.Error())
	}
	l.text = xmltree.Print(result.Root)
	return urdf.FromTree(result.Root)
}

// meshFile returns the file of a mesh. A relative name starts beside the file that
// names it.
func (l *loader) meshFile(mesh string, doc *urdf.Document) (string, error) {
	return l.files.Resolve(mesh, doc.Pos.File)
}

// meshExists returns a function that tells whether a mesh is there. One that may not be
// read is another problem, of which it warns itself.
func (l *loader) meshExists(doc *urdf.Document) func(string) bool {
	warned := map[string]bool{}
	return func(mesh string) bool {
		if scheme, _, ok := strings.Cut(mesh, "://"); ok && scheme != "package" && scheme != "file" {
			return true // elsewhere: not ours to judge
		}
		file, err := l.meshFile(mesh, doc)
		if err != nil {
			l.missing = append(l.missing, mesh)
			return false
		}
		if err := l.files.Check(file); err != nil {
			if !warned[mesh] {
				warned[mesh] = true
				l.warnings = append(l.warnings, fmt.Sprintf("%s: mesh %q is not read: %v", doc.Pos.File, mesh, err))
			}
			return true
		}
		found := l.exists(file)
		if !found {
			l.missing = append(l.missing, mesh)
		}
		return found
	}
}
