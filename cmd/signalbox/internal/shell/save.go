package shell

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// SaveFile writes beside the file and renames, so that nobody finds half of it. What is no
// regular file (a pipe, /dev/null, /dev/stdout) is written to as it is: whoever is root would
// put a file in its place. Of a link, the file behind it is replaced.
func SaveFile(to string, write func(io.Writer) error) error {
	at, err := os.Stat(to)
	switch {
	case err != nil: // nothing is there yet
	case at.IsDir():
		return &manifest.Problem{Source: to, Have: "is a folder", Want: "the name of a file to write"}
	case !at.Mode().IsRegular():
		return saveInto(to, write)
	}
	if behind, err := filepath.EvalSymlinks(to); err == nil {
		to = behind
	}
	f, err := os.CreateTemp(filepath.Dir(to), ".signalbox-*")
	if err != nil {
		return cannotWrite(to, err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone after the rename
	if err := write(f); err != nil {
		_ = f.Close() // the error of the write is the one to tell
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), to)
}

// saveInto writes to something that is there and stays there.
func saveInto(to string, write func(io.Writer) error) error {
	f, err := os.OpenFile(to, os.O_WRONLY, 0)
	if err != nil {
		return cannotWrite(to, err)
	}
	return errors.Join(write(f), f.Close())
}

// cannotWrite is the user's to mend: a folder that is not there, or may not be written to.
func cannotWrite(to string, err error) error {
	if why, ok := errors.AsType[*fs.PathError](err); ok {
		err = why.Err
	}
	return &manifest.Problem{Source: to, Have: "cannot be written: " + err.Error(), Want: "a file in a folder that is there and may be written to"}
}
