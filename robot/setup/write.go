package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes what was chosen and returns the names of the files. A file that another
// program made or changed since Open is not touched: the error is ErrChanged then.
func (s *Setup) Write() (written []string, err error) {
	now, err := os.ReadFile(filepath.Join(s.Folder, File))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case (err == nil) != (s.before != nil) || !bytes.Equal(now, s.before):
		return nil, fmt.Errorf("%s: %w", filepath.Join(s.Folder, File), ErrChanged)
	}
	if s.Limits != nil {
		if err := create(filepath.Join(s.Folder, LimitsFile), s.Limits); err != nil {
			return nil, err
		}
		written = append(written, LimitsFile)
	}
	if len(s.Added) == 0 {
		return written, nil
	}
	name := filepath.Join(s.Folder, File)
	if s.before == nil {
		err = create(name, s.Text)
	} else {
		err = replace(name, s.Text)
	}
	if err != nil {
		return written, err
	}
	return append(written, File), nil
}

// create makes a file that is not there, whole: written beside it, on the disk before it
// has its name.
func create(name string, text []byte) error {
	tmp, err := beside(name, text, 0o644)
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	err = os.Link(tmp, name) // which, unlike a rename, never takes another's place
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", name, ErrChanged)
	}
	return err
}

// replace puts a file in the place of another, with its permissions.
func replace(name string, text []byte) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is a link or no regular file: it is left as it is", name)
	}
	tmp, err := beside(name, text, info.Mode().Perm())
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, name); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

// beside writes a temporary file in the folder of another.
func beside(name string, text []byte, mode fs.FileMode) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".poise-writing-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
