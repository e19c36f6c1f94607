package diagnose

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// files reads evidence; standard input only once.
type files struct {
	stdin io.Reader
	used  bool
}

func newFiles(stdin io.Reader) *files { return &files{stdin: stdin} }

// maxEvidence bounds a file of events or pods, which is held in memory. Logs are not: they are
// read as they come.
const maxEvidence = 64 << 20

// open opens a file as text. What is empty or no text is an error here, not later.
func (f *files) open(name, want string) (io.ReadCloser, error) {
	in := io.NopCloser(f.stdin)
	if name == "-" {
		if f.used {
			return nil, shell.Usagef("- is given twice; standard input can be read once")
		}
		f.used = true
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, unreadable(name, strings.TrimPrefix(err.Error(), "open "+name+": "), "a readable file")
		}
		in = file
	}
	text, err := plain(in)
	if err != nil {
		_ = in.Close() // what is wrong with it is said already
		if said, ok := strings.CutPrefix(err.Error(), "read "+name+": "); ok {
			return nil, unreadable(name, said, "a readable file")
		}
		return nil, unreadable(name, err.Error(), want+" as text")
	}
	r := bufio.NewReader(text)
	if _, err := r.Peek(1); errors.Is(err, io.EOF) {
		_ = in.Close() // what is wrong with it is said already
		return nil, unreadable(name, "it is empty", "a log, events or pods")
	}
	return readCloser{r, in}, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

func unreadable(name, have, want string) error {
	return &manifest.Problem{Source: name, Have: have, Want: want}
}

// log opens a log of a case: now, and anew whenever it is read again, which standard input
// cannot be.
func (f *files) log(name string) (func() (io.ReadCloser, error), error) {
	first, err := f.open(name, "a log")
	if err != nil {
		return nil, err
	}
	if regular(name) {
		_ = first.Close() // it can be read; a gang of a thousand is not kept open at once
		first = nil
	}
	return func() (io.ReadCloser, error) {
		if first != nil {
			in := first
			first = nil
			return in, nil
		}
		return f.open(name, "a log")
	}, nil
}

// regular says whether a file can be read as often as one likes.
func regular(name string) bool {
	at, err := os.Stat(name)
	return name != "-" && err == nil && at.Mode().IsRegular()
}

// add adds a file to a case: as a log, or those of several containers that its lines name; or as objects, where it
// begins as objects do and is not longer than what is held in memory.
func (f *files) add(c *diagnose.Case, name string) error {
	open, err := f.log(name)
	if err != nil {
		return err
	}
	in, err := open()
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(in, sniffed)
	head, _ := r.Peek(sniffed) // an error comes again when it is read
	again := io.Reader(r)
	if pasted := bare.Pasted(head); pasted || bare.Several(head) {
		text, err := io.ReadAll(io.LimitReader(r, maxEvidence))
		if whole := err == nil && len(text) < maxEvidence; whole && pasted {
			bare.Add(c, terminal.FileName(name), text)
			return in.Close()
		} else if logs := bare.Containers(terminal.FileName(name), text); whole && logs != nil {
			c.Logs = append(c.Logs, logs...)
			return in.Close()
		}
		again = io.MultiReader(bytes.NewReader(text), r)
	}
	one := diagnose.Log{Source: evidence.Source{File: terminal.FileName(name), Rank: evidence.RankIn(name)}, Open: open}
	if !regular(name) {
		one.Open = func() (io.ReadCloser, error) {
			if again == nil {
				return open() // which says that it is read
			}
			first := readCloser{again, in}
			again = nil
			return first, nil
		}
	} else if err := in.Close(); err != nil {
		return err
	}
	c.Logs = append(c.Logs, one)
	return nil
}

// all reads a whole file of events or pods. Of a compressed one that was cut, what is there is read.
func (f *files) all(name string) ([]byte, error) {
	in, err := f.open(name, "events or pods")
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxEvidence+1))
	switch {
	case len(text) > maxEvidence:
		return nil, unreadable(name, fmt.Sprintf("holds more than %d MiB", maxEvidence>>20), "the part about this job")
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, unreadable(name, strings.TrimPrefix(err.Error(), "read "+name+": "), "a readable file")
	}
	return text, nil
}

// there says that a name is that of a file: one that is misspelt is not.
func there(name string) bool {
	_, err := os.Stat(name)
	return name == "-" || err == nil
}

// cantRead is what is wrong with a file among others.
func cantRead(err error) string {
	if p, ok := errors.AsType[*manifest.Problem](err); ok {
		return terminal.OneLine(terminal.FileName(p.Source) + " " + p.Have)
	}
	return terminal.OneLine(err.Error())
}

// savedAt is when the newest of the files was written, where that was before now: what became of the job since, none of them can tell.
func savedAt(now time.Time, names []string) time.Time {
	var newest time.Time
	for _, name := range names {
		at, err := os.Stat(name)
		if err != nil || !at.IsDir() && !at.Mode().IsRegular() {
			return now // it is read as it comes
		}
		if !at.IsDir() {
			newest = later(newest, at.ModTime())
			continue
		}
		err = filepath.WalkDir(name, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			inside, err := d.Info()
			if err == nil && d.Type().IsRegular() {
				newest = later(newest, inside.ModTime())
			}
			return err
		})
		if err != nil {
			return now // reading it says what is wrong
		}
	}
	if newest.IsZero() || newest.After(now) {
		return now
	}
	return newest
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// many says whether a name is a folder or an archive of files.
func many(name string) bool {
	at, err := os.Stat(name)
	if err != nil {
		return false
	}
	return at.IsDir() || collect.IsArchive(name)
}
