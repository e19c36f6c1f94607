package collect

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// Bounds of a bundle. Of its logs there is none: they are read as they come.
const (
	maxFiles   = 1 << 18
	maxObjects = 64 << 20  // bytes of one file of objects, unpacked
	maxTotal   = 256 << 20 // bytes of all of them
)

// contents are the files of a bundle by path: those with objects as they are, the others so that
// they can be opened.
type contents struct {
	objects map[string][]byte
	logs    map[string]*logFile
	bytes   int64    // of objects
	left    []string // files of a folder that are no regular ones: none is opened
	away    []string // links out of the folder, or to nowhere: they are not followed, and may lead to a log
}

// logFile is a file that is not held in memory.
type logFile struct {
	open func() (io.ReadCloser, error)
	// lines counts them; it is asked for few files.
	lines func() (int, error)
	order int // files are read fastest in this order
}

// isObjects says that a file is one of those of bundleSchema that are read whole, in the bundle or
// in the one folder around it.
func isObjects(name string) bool {
	return slices.Contains(objectFiles, path.Base(name)) && strings.Count(name, "/") <= 1
}

func openContents(ctx context.Context, name string) (*contents, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	f := &contents{objects: map[string][]byte{}, logs: map[string]*logFile{}}
	switch {
	case st.IsDir():
		err = f.readDir(ctx, name)
	case strings.HasSuffix(strings.ToLower(name), ".zip"):
		err = f.readZip(ctx, name)
	default:
		err = f.readArchive(ctx, &archive{name: name})
	}
	if err != nil {
		return nil, err
	}
	return f.unwrapped(), nil
}

func (f *contents) count() error {
	if len(f.objects)+len(f.logs) >= maxFiles {
		return fmt.Errorf("it has more than %d files", maxFiles)
	}
	return nil
}

// hold reads a file of objects.
func (f *contents) hold(name string, in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, maxObjects+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > maxObjects {
		return fmt.Errorf("%s has more than %d bytes", name, maxObjects)
	}
	if f.bytes += int64(len(text)); f.bytes > maxTotal {
		return fmt.Errorf("its objects have more than %d bytes in all", maxTotal)
	}
	f.objects[name] = text
	return nil
}

func (f *contents) readDir(ctx context.Context, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		err = cmp.Or(err, ctx.Err())
		if err != nil || d.IsDir() {
			return err
		}
		switch {
		case d.Type()&fs.ModeSymlink != 0 && !leadsInside(dir, p):
			f.away = append(f.away, p)
			return nil
		case d.Type()&fs.ModeSymlink != 0: // what it leads to is read where it stands
			return nil
		case !d.Type().IsRegular():
			f.left = append(f.left, p)
			return nil
		}
		if err := f.count(); err != nil {
			return err
		}
		if !isObjects(p) {
			// The root is not kept open: a case is not closed.
			open := func() (io.ReadCloser, error) {
				in, err := os.OpenInRoot(dir, p)
				if refused, ok := errors.AsType[*fs.PathError](err); ok {
					return nil, refused.Err // the file is named where it is said
				}
				return in, err
			}
			f.logs[p] = &logFile{open: open, order: len(f.logs), lines: func() (int, error) { return countLines(ctx, open) }}
			return nil
		}
		in, err := root.Open(p)
		if err != nil {
			return err
		}
		defer in.Close()
		return f.hold(p, in)
	})
}

// leadsInside says that a link of a folder leads to a file or a folder of it.
func leadsInside(dir, link string) bool {
	real, err := filepath.EvalSymlinks(dir)
	to, wrong := filepath.EvalSymlinks(filepath.Join(dir, link))
	if err != nil || wrong != nil {
		return false
	}
	at, err := filepath.Rel(real, to)
	return err == nil && filepath.IsLocal(at) && !strings.HasPrefix(filepath.Base(at), ".") // hidden files are not read
}

// readZip reads the list of an archive's files. A log is opened when it is read, since a zip file
// has an index: the archive stays open until nothing holds the case, when the runtime closes it.
func (f *contents) readZip(ctx context.Context, name string) (err error) {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = in.Close() // only read from
		}
	}()
	st, err := in.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(in, st.Size())
	if err != nil {
		return fmt.Errorf("read the zip archive: %w", err)
	}
	const encrypted = 1 // a bit of the flags (APPNOTE.TXT 4.4.4)
	for _, file := range z.File {
		switch {
		case !file.Mode().IsRegular():
			continue
		case file.Flags&encrypted != 0:
			return fmt.Errorf("%s is encrypted", file.Name)
		case !fs.ValidPath(path.Clean(file.Name)):
			return fmt.Errorf("%q leaves the bundle", file.Name)
		}
		if err := cmp.Or(ctx.Err(), f.count()); err != nil {
			return err
		}
		if isObjects(file.Name) {
			in, err := file.Open()
			if err != nil {
				return fmt.Errorf("open %s: %w", file.Name, err)
			}
			if err := f.hold(file.Name, in); err != nil {
				return err
			}
			continue
		}
		f.logs[file.Name] = &logFile{open: file.Open, order: len(f.logs), lines: func() (int, error) { return countLines(ctx, file.Open) }}
	}
	return nil
}

// unwrapped drops one folder around everything, as `tar czf x.tgz folder` leaves it.
func (f *contents) unwrapped() *contents {
	if _, ok := f.objects[indexFile]; ok {
		return f
	}
	prefix := ""
	for _, name := range slices.Concat(slices.Collect(maps.Keys(f.objects)), slices.Collect(maps.Keys(f.logs))) {
		first, _, ok := strings.Cut(name, "/")
		if !ok || prefix != "" && prefix != first {
			return f
		}
		prefix = first
	}
	out := &contents{objects: without(prefix+"/", f.objects), logs: without(prefix+"/", f.logs), bytes: f.bytes}
	for _, p := range f.left {
		out.left = append(out.left, strings.TrimPrefix(p, prefix+"/"))
	}
	for _, p := range f.away {
		out.away = append(out.away, strings.TrimPrefix(p, prefix+"/"))
	}
	return out
}

func without[T any](prefix string, files map[string]T) map[string]T {
	out := map[string]T{}
	for name, file := range files {
		out[strings.TrimPrefix(name, prefix)] = file
	}
	return out
}

// log opens a file that the index names as a log; whatever it is called.
func (f *contents) log(name string) (*logFile, bool) {
	if text, ok := f.objects[name]; ok {
		return heldFile(text), true
	}
	file, ok := f.logs[name]
	return file, ok
}

// heldFile is a file in memory.
func heldFile(text []byte) *logFile {
	return &logFile{
		open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
		lines: func() (int, error) {
			var n lineCount
			_, err := n.Write(text)
			return n.lines(), err
		},
	}
}

func countLines(ctx context.Context, open func() (io.ReadCloser, error)) (int, error) {
	in, err := open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	var n lineCount
	_, err = io.Copy(&n, reduce.Cancelable(ctx, in))
	return n.lines(), err
}

// lineCount counts the lines that are written to it.
type lineCount struct {
	ends int
	last byte // 0: nothing was written
}

func (n *lineCount) Write(p []byte) (int, error) {
	n.ends += bytes.Count(p, []byte("\n"))
	if len(p) > 0 {
		n.last = p[len(p)-1]
	}
	return len(p), nil
}

func (n *lineCount) lines() int {
	if n.last != 0 && n.last != '\n' {
		return n.ends + 1
	}
	return n.ends
}

// readArchive goes through a whole archive once.
func (f *contents) readArchive(ctx context.Context, a *archive) error {
	at, err := a.begin(func(r io.Reader) io.Reader { return reduce.Cancelable(ctx, r) })
	if err != nil {
		return err
	}
	defer at.close()
	for n := 0; ; n++ {
		file, err := at.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := f.count(); err != nil {
			return err
		}
		delete(f.logs, file) // the last of one name counts, as for tar
		if isObjects(file) {
			err = f.hold(file, at.tar)
		} else {
			var n lineCount
			if _, err = io.Copy(&n, at.tar); err == nil {
				order := at.at
				f.logs[file] = &logFile{
					open: func() (io.ReadCloser, error) { return a.open(order) }, order: order,
					lines: func() (int, error) { return n.lines(), nil },
				}
			}
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("the archive ends in the middle of %s", file)
		}
		if err != nil {
			return err
		}
	}
}
