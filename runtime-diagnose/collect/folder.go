package collect

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// IsArchive says whether a file's name is that of many files in one.
func IsArchive(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{".tgz", ".tar.gz", ".tar", ".zip"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// Join adds what another case holds.
func Join(c *diagnose.Case, other diagnose.Case) {
	c.Logs, c.Pods, c.Events = append(c.Logs, other.Logs...), append(c.Pods, other.Pods...), append(c.Events, other.Events...)
	c.Nodes, c.Objects, c.Missing = append(c.Nodes, other.Nodes...), append(c.Objects, other.Objects...), append(c.Missing, other.Missing...)
	c.Unread = c.Unread || other.Unread
}

// Folder reads a folder or .tgz that people saved: a bundle as Open does, and any other as the
// logs of containers, one in each file, with pods and events where files are called like those of
// a bundle. Other files in YAML hold objects or are about the logs, a label or settings; no container prints
// them, nor Markdown. What begins as objects do is read as such (bare.Pasted). A link, a pipe and a file that readable refuses are
// left out, and the case says so; empty ones hold nothing.
func Folder(ctx context.Context, name string, readable func(io.Reader) (io.Reader, error)) (c diagnose.Case, bundle bool, err error) {
	files, err := openContents(ctx, name)
	if err != nil {
		return c, false, fmt.Errorf("open %s: %w", name, err)
	}
	if _, ok := files.objects[indexFile]; ok {
		if c, err = files.parse(); err != nil {
			err = fmt.Errorf("open bundle %s: %w", name, err)
		}
		return c, true, err
	}
	for _, file := range files.left {
		c.Missing = append(c.Missing, shownAs(path.Join(name, file))+" is no regular file")
	}
	for _, file := range files.away {
		c.Missing, c.Unread = append(c.Missing, shownAs(path.Join(name, file))+" is a link to no file of the folder, and was not followed"), true
	}
	for _, file := range slices.Sorted(maps.Keys(files.objects)) {
		bare.Add(&c, shownAs(path.Join(name, file)), files.objects[file])
	}
	inOrder := slices.SortedFunc(maps.Keys(files.logs), func(a, b string) int { return files.logs[a].order - files.logs[b].order })
	for _, file := range inOrder {
		if strings.HasPrefix(file[strings.LastIndexByte(file, '/')+1:], ".") {
			continue
		}
		if whole := path.Join(name, file); IsArchive(file) && !IsArchive(name) { // of a folder, not of an archive: those are not opened for others in them
			inner, isBundle, err := Folder(ctx, whole, readable)
			switch {
			case err != nil:
				c.Missing, c.Unread = append(c.Missing, shownAs(whole)+": "+strings.TrimPrefix(err.Error(), "open "+whole+": ")), true
			case isBundle && len(files.logs) == 1 && len(files.objects) == 0:
				return inner, true, nil
			default:
				Join(&c, inner)
			}
			continue
		}
		open := func() (io.ReadCloser, error) { return opened(files.logs[file].open, readable) }
		in, err := open()
		if err != nil {
			c.Missing, c.Unread = append(c.Missing, fmt.Sprintf("%s: %v", shownAs(path.Join(name, file)), err)), c.Unread || mayBeLog(err)
			continue
		}
		if isYAML(file) {
			addYAML(&c, shownAs(path.Join(name, file)), in)
			continue
		}
		if form := pages[strings.ToLower(path.Ext(file))]; form != "" {
			_ = in.Close() // only read from
			c.Missing = append(c.Missing, shownAs(path.Join(name, file))+" is "+form+evidence.NotALog)
			continue
		}
		r := bufio.NewReaderSize(in, headOfFile)
		head, _ := r.Peek(headOfFile) // an error comes again when it is read
		if bare.Pasted(head) && addPasted(&c, shownAs(path.Join(name, file)), r) {
			_ = in.Close() // only read from
			continue
		}
		_ = in.Close() // only read from
		if len(head) == 0 {
			continue
		}
		c.Logs = append(c.Logs, diagnose.Log{Source: evidence.Source{File: shownAs(path.Join(name, file)), Rank: -1}, Open: open})
	}
	if len(c.Logs)+len(c.Pods)+len(c.Events)+len(c.Objects) == 0 {
		return c, false, fmt.Errorf("open %s: it holds no log; expected logs of containers, or a bundle%s", name, leftOut(c.Missing))
	}
	return c, false, nil
}

// mayBeLog says that a file was not read for a reason other than what it is: it is not the asker's to read, or is compressed and broken.
func mayBeLog(err error) bool {
	var refused *fs.PathError
	return errors.As(err, &refused) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF)
}

// pages are files that people write about logs, or save an answer in (diagnose -o html): they quote failures that no
// container of the folder had.
var pages = map[string]string{".md": "Markdown", ".html": "HTML", ".htm": "HTML"}

// leftOut is the first of what was not read; empty: nothing was left out.
func leftOut(missing []string) string {
	if len(missing) == 0 {
		return ""
	}
	return "; " + missing[0]
}

func isYAML(file string) bool {
	return strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".yml")
}

// addYAML adds the objects of a file, and closes it; the case says where it holds none.
func addYAML(c *diagnose.Case, name string, in io.ReadCloser) {
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxObjects+1))
	switch {
	case err != nil:
		c.Missing = append(c.Missing, fmt.Sprintf("%s: %v", name, err))
	case len(text) > maxObjects:
		c.Missing = append(c.Missing, fmt.Sprintf("%s has more than %d bytes", name, maxObjects))
	case len(text) == 0:
	case bare.Read(name, text, c.Now).Text:
		c.Missing = append(c.Missing, name+" is YAML without Kubernetes objects"+evidence.NotALog)
	default:
		bare.Add(c, name, text)
	}
}

// headOfFile is how much of a file tells objects from a log.
const headOfFile = 4 << 10

// addPasted adds the objects of a text; false: it is more than a file of objects, or cannot be read to its end.
func addPasted(c *diagnose.Case, name string, in io.Reader) bool {
	text, err := io.ReadAll(io.LimitReader(in, maxObjects+1))
	if err != nil || len(text) > maxObjects {
		return false
	}
	bare.Add(c, name, text)
	return true
}

// shownAs is a file's name in one line, without what a terminal would obey.
func shownAs(name string) string { return strings.ReplaceAll(redact.Clean(name), "\n", " ") }

// opened is a file as text.
func opened(open func() (io.ReadCloser, error), readable func(io.Reader) (io.Reader, error)) (io.ReadCloser, error) {
	in, err := open()
	if err != nil {
		return nil, err
	}
	text, err := readable(in)
	if err != nil {
		_ = in.Close() // what is wrong with it is said already
		return nil, err
	}
	return textOf{text, in}, nil
}

type textOf struct {
	io.Reader
	io.Closer
}
