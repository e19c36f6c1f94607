package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// mostOfFolder is how large a file of rules, data or signatures may be: as much as a bundle of policies may unpack to.
const mostOfFolder = 32 << 20

// folderOf are the files of a folder that somebody else may have filled: a repository holds links to whatever there is. What is no
// regular file is an error before it is opened, for a pipe is never opened and a device never ends.
func folderOf(dir string) fs.FS { return folder{os.DirFS(dir)} }

type folder struct{ all fs.FS }

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
	case info.Size() > mostOfFolder:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("it has %d bytes; at most %d are read", info.Size(), mostOfFolder)}
	}
	return f.all.Open(name)
}
