package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"poise/server/config"
)

// maxRecorders is how many servers of one user may record in the state folder at a time.
const maxRecorders = 64

// recorder is where a run records.
type recorder struct {
	about string   // for people: where, or why not
	lock  *os.File // held as long as the process lives; nil if the file was chosen by its name
}

// chooseRecording settles where a run records: in the file that it was given, or in the state
// folder, in the first recording there that no other server writes. Without a place nothing is
// recorded, and the robot is served.
func chooseRecording(r *config.Record) recorder {
	if !r.Enabled {
		r.File = ""
		return recorder{about: "nothing is recorded, as was asked for (--no-record, record.enabled)"}
	}
	if r.File != "" {
		return recorder{about: "the last ticks are in the recording " + r.File}
	}
	lock, name, err := defaultRecording()
	if err != nil {
		return recorder{about: fmt.Sprintf("nothing is recorded: %v (--record FILE)", err)}
	}
	r.File = name
	return recorder{"the last ticks are in the recording " + name, lock}
}

// recordingsFolder is where servers record that were not told where, "" if there is no home.
func recordingsFolder() string {
	state := stateFolder()
	if state == "" {
		return ""
	}
	return filepath.Join(state, "recordings")
}

// recordingName is the name of the recording of the nth server of a user that runs at a time.
func recordingName(folder string, n int) string {
	if n > 1 {
		folder = filepath.Join(folder, strconv.Itoa(n))
	}
	return filepath.Join(folder, "flight.rec")
}

// defaultRecording takes a recording of the state folder that no other process has.
func defaultRecording() (lock *os.File, name string, err error) {
	folder := recordingsFolder()
	if folder == "" {
		return nil, "", fmt.Errorf("there is no home folder to record in")
	}
	for n := 1; n <= maxRecorders; n++ {
		name := recordingName(folder, n)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, "", err
		}
		lock, err := os.OpenFile(name+".lock", os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, "", err
		}
		if tryLock(lock) {
			return lock, name, nil
		}
		lock.Close()
	}
	return nil, "", fmt.Errorf("%d servers record in %s already", maxRecorders, folder)
}
