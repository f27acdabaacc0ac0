package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"poise/robot"
	"poise/servo/model"
	"poise/servo/modelfile"
)

// modelsFile is where the models of a robot are saved.
func modelsFile(folder, robot string) string { return filepath.Join(folder, robot+"-models.yaml") }

// save writes models beside those that the file has already, and returns its name.
func (id *Identifier) save(entries []modelfile.Named) (string, error) {
	if id.robot.Folder == "" {
		return "", nil
	}
	id.saving.Lock()
	defer id.saving.Unlock()
	name := modelsFile(id.robot.Folder, id.robot.Name)
	all, err := read(name)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		at := -1
		for i := range all {
			if all[i].Name == e.Name {
				at = i
			}
		}
		if at < 0 {
			all = append(all, e)
		} else {
			all[at] = e
		}
	}
	return name, writeWhole(name, func(f *os.File) error {
		_, err := f.Write(modelfile.Write(all))
		return err
	})
}

func read(name string) ([]modelfile.Named, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	set, err := modelfile.Read(data, name)
	if err != nil {
		return nil, err
	}
	return set.Models, nil
}

// Saved returns the models that were saved of a robot, by joint; none without a file.
func Saved(m *robot.Model, folder, name string) (map[robot.JointID]*model.Model, error) {
	all, err := read(modelsFile(folder, name))
	if err != nil {
		return nil, err
	}
	out := map[robot.JointID]*model.Model{}
	for i := range all {
		if j, ok := m.Joint(all[i].Name); ok {
			out[j] = &all[i].Model
		}
	}
	return out, nil
}

// writeWhole writes a file of which all is there or nothing.
func writeWhole(name string, fill func(*os.File) error) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(fill(f), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
