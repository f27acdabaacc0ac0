package telemetry

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// disk is what a recording needs of a file system. Tests have one that is full.
type disk interface {
	Create(name string) (diskFile, error) // that must not exist yet
	Remove(name string) error
	RemoveAll(name string) error
	Rename(from, to string) error
	Link(from, to string) error
	MkdirAll(name string) error
	ReadDir(name string) ([]fs.DirEntry, error)
	Free(name string) (bytes int64, known bool) // where the folder is
}

type diskFile interface {
	io.WriteCloser
	Sync() error
}

// realDisk is the file system of the machine.
type realDisk struct{}

func (realDisk) Create(name string) (diskFile, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err // not a diskFile that is a nil file
	}
	return file, nil
}

func (realDisk) Remove(name string) error                   { return os.Remove(name) }
func (realDisk) RemoveAll(name string) error                { return os.RemoveAll(name) }
func (realDisk) Rename(from, to string) error               { return os.Rename(from, to) }
func (realDisk) Link(from, to string) error                 { return os.Link(from, to) }
func (realDisk) MkdirAll(name string) error                 { return os.MkdirAll(name, 0o755) }
func (realDisk) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// noRoom reports whether a disk is full.
func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
