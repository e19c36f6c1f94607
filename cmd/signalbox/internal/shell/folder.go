package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// MostOfFolder is how large, in bytes, a file of rules, data or signatures may be: as much as a bundle of policies may unpack to.
const MostOfFolder = 32 << 20

// Folder are the files of a folder that somebody else may have filled: a repository holds links to whatever there is. What is no
// regular file is an error before it is opened, for a pipe is never opened and a device never ends.
func Folder(dir string) fs.FS { return folder{os.DirFS(dir), dir} }

type folder struct {
	all fs.FS
	dir string
}

// Path is where a file of the folder lies.
func (f folder) Path(name string) string { return filepath.Join(f.dir, name) }

// Open implements fs.FS.
func (f folder) Open(name string) (fs.File, error) {
	info, err := fs.Stat(f.all, name) // of what a link leads to
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is no regular file")}
	case info.Size() > MostOfFolder:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("it has %d bytes; at most %d are read", info.Size(), MostOfFolder)}
	}
	return f.all.Open(name)
}

// NoFolder is what is wrong with a folder that cannot be looked at.
func NoFolder(err error) string {
	if why, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(err, fs.ErrNotExist) {
		return why.Err.Error()
	}
	return "no such folder"
}
