package collect

import (
	"archive/tar"
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// archive opens the files of a .tgz without unpacking it. Compressed text can be read from its
// beginning only, so a reader of the files in their order reads the archive once: a cursor that
// is done with goes on from where it is.
type archive struct {
	name string
	mu   sync.Mutex
	idle []*cursor // by their place
}

// mostIdle is how many cursors wait for the next file: one for each of so many readers.
const mostIdle = 4

// open opens a file by its place.
func (a *archive) open(at int) (io.ReadCloser, error) {
	c := a.before(at)
	if c == nil {
		var err error
		if c, err = a.begin(func(r io.Reader) io.Reader { return r }); err != nil {
			return nil, err
		}
	}
	for c.at < at {
		if _, err := c.next(); err != nil {
			c.close()
			if errors.Is(err, io.EOF) {
				err = errors.New("the archive has changed: it has fewer files than before")
			}
			return nil, err
		}
	}
	return &entry{archive: a, cursor: c}, nil
}

// begin starts a cursor at the first file.
func (a *archive) begin(through func(io.Reader) io.Reader) (*cursor, error) {
	f, err := os.Open(a.name)
	if err != nil {
		return nil, err
	}
	return newCursor(f, through(bufio.NewReader(f)))
}

// before takes the idle cursor that is the least way before a file; nil: none is.
func (a *archive) before(at int) *cursor {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, c := range slices.Backward(a.idle) {
		if c.at < at {
			a.idle = slices.Delete(a.idle, i, i+1)
			return c
		}
	}
	return nil
}

// put takes a cursor back. Where there are too many, the one with the fewest files before it goes.
func (a *archive) put(c *cursor) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.idle = append(a.idle, c)
	slices.SortFunc(a.idle, func(a, b *cursor) int { return cmp.Compare(a.at, b.at) })
	if len(a.idle) > mostIdle {
		a.idle[mostIdle].close()
		a.idle = a.idle[:mostIdle]
	}
}

// entry is one file of an archive, being read.
type entry struct {
	archive *archive
	cursor  *cursor
}

func (e *entry) Read(p []byte) (int, error) { return e.cursor.tar.Read(p) }

func (e *entry) Close() error {
	if e.cursor != nil {
		e.archive.put(e.cursor)
		e.cursor = nil
	}
	return nil
}

// cursor is a place in an archive that is being read.
type cursor struct {
	file io.Closer
	tar  *tar.Reader
	at   int // number of the file that is open, from 0; -1: none yet
}

func newCursor(file io.Closer, text io.Reader) (*cursor, error) {
	zip, err := gzip.NewReader(text)
	if err != nil {
		_ = file.Close() // it was only read from
		return nil, fmt.Errorf("expected a folder or a gzip-compressed tar: %w", err)
	}
	return &cursor{file: file, tar: tar.NewReader(zip), at: -1}, nil
}

func (c *cursor) close() { _ = c.file.Close() } // it was only read from

// next goes to the next file; io.EOF after the last. What does not belong in a bundle is an error.
func (c *cursor) next() (name string, err error) {
	for {
		h, err := c.tar.Next()
		switch {
		case errors.Is(err, io.EOF):
			return "", io.EOF
		case errors.Is(err, io.ErrUnexpectedEOF):
			return "", fmt.Errorf("the archive ends in the middle, after %d files", c.at+1)
		case err != nil:
			return "", fmt.Errorf("read the archive after %d files: %w", c.at+1, err)
		case h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag != tar.TypeReg:
			return "", fmt.Errorf("%q is no regular file", h.Name)
		case isSparse(h):
			return "", fmt.Errorf("%q has holes", h.Name)
		case !fs.ValidPath(path.Clean(h.Name)) || strings.Contains(h.Name, `\`):
			return "", fmt.Errorf("%q leaves the bundle", h.Name)
		}
		c.at++
		return path.Clean(h.Name), nil
	}
}

// isSparse says that a file is stored without its zeroes: a header can promise any number of them
// (GNU tar manual, "Storing Sparse Files").
func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}
