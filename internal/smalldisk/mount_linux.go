package smalldisk

import "syscall"

func mount(folder, options string) error {
	return syscall.Mount("tmpfs", folder, "tmpfs", 0, options)
}

func unmount(folder string) error { return syscall.Unmount(folder, 0) }
