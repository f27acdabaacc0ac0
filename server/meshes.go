package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"poise/internal/xmltree"
	"poise/robot/load"
)

// meshFolder is the meshes of a robot, at /mesh/{name...}.
type meshFolder struct {
	Robot *load.Loaded
	Since time.Time // when they were read
}

// URDF is the description with the names of its meshes as the page can fetch
// them.
func (f *meshFolder) URDF() string {
	root, err := xmltree.Parse(f.Robot.URDF, "robot.urdf", xmltree.Limits{})
	if err != nil {
		return string(f.Robot.URDF)
	}
	changed := false
	var walk func(n *xmltree.Node)
	walk = func(n *xmltree.Node) {
		if a := n.Attr("filename"); a != nil && n.QName() == "mesh" {
			if scheme, _, ok := strings.Cut(a.Value, "://"); !ok || scheme == "package" || scheme == "file" {
				if slices.Contains(f.Robot.Missing, a.Value) {
					a.Value = "/mesh/missing/" + meshKey(a.Value) // not to be asked for
				} else {
					a.Value = "/mesh/" + meshKey(a.Value)
				}
				changed = true
			}
		}
		for child := range n.Elements() {
			walk(child)
		}
	}
	walk(root)
	if !changed {
		return string(f.Robot.URDF)
	}
	return string(xmltree.Print(root))
}

// meshKey is the name under which a mesh is served: short, and nothing of the
// machine's folders in it.
func meshKey(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8]) + strings.ToLower(path.Ext(name))
}

// meshTypes are the kinds of files that are served, by the ends of their names, with the
// type that browsers are told, whatever is in them. None is a type that a browser would
// run: a Collada file is XML, which could hold script, and SVG is not among them.
var meshTypes = map[string]string{
	".stl": "model/stl", ".obj": "model/obj", ".mtl": "model/mtl", ".ply": "model/ply",
	".dae": "application/octet-stream", ".3ds": "application/octet-stream", ".bin": "application/octet-stream",
	".gltf": "model/gltf+json", ".glb": "model/gltf-binary",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".bmp": "image/bmp", ".webp": "image/webp",
	".tga": "application/octet-stream", ".tif": "application/octet-stream", ".tiff": "application/octet-stream",
}

// ServeHTTP serves a mesh that the description names, and no other file.
func (f *meshFolder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, name := range f.names() {
		if meshKey(name) != r.PathValue("name") {
			continue
		}
		typ, ok := meshTypes[strings.ToLower(path.Ext(name))]
		if !ok {
			http.Error(w, fmt.Sprintf("%s is neither a mesh nor a texture by its name", path.Base(name)), http.StatusUnsupportedMediaType)
			return
		}
		data, err := f.Robot.Mesh(name)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", typ)
		w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
		http.ServeContent(w, r, "", f.Since, bytes.NewReader(data))
		return
	}
	http.NotFound(w, r)
}

func (f *meshFolder) names() (names []string) {
	for _, l := range f.Robot.Model.Document().Links {
		for _, v := range l.Visuals {
			if m := v.Geometry.Mesh; m != "" {
				names = append(names, m)
			}
		}
		for _, c := range l.Collisions {
			if m := c.Geometry.Mesh; m != "" {
				names = append(names, m)
			}
		}
	}
	return names
}
