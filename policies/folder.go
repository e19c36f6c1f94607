package policies

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Folder keeps decisions in files of a folder, one line each, within a number of bytes and for some
// days: the oldest files go first. Several processes may share a folder, each under its own name.
type Folder struct {
	Dir   string
	Name  string // of the process, in names of files
	Bytes int64  // of all files together
	Keep  time.Duration

	mu   sync.Mutex
	file *os.File
	size int64
	day  string
	part int
}

const (
	folderFiles  = 8 // that share the bytes
	folderPrefix = "decisions-"
	folderSuffix = ".jsonl"
)

// Write appends a line.
func (f *Folder) Write(line []byte, at time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	day := at.UTC().Format("20060102")
	if f.file == nil || day != f.day || f.size+int64(len(line)) > f.Bytes/folderFiles {
		if err := f.turn(day, at); err != nil {
			return err
		}
	}
	n, err := f.file.Write(line)
	f.size += int64(n)
	if err != nil {
		return fmt.Errorf("write a decision: %w", err)
	}
	return nil
}

// turn begins a new file and removes old ones.
func (f *Folder) turn(day string, at time.Time) error {
	if f.file != nil {
		_ = f.file.Close()
		f.file = nil
	}
	if err := f.prune(at); err != nil {
		return err
	}
	if day != f.day {
		f.day, f.part = day, 0
	}
	for {
		name := filepath.Join(f.Dir, fmt.Sprintf("%s%s-%s-%03d%s", folderPrefix, day, f.Name, f.part, folderSuffix))
		f.part++
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return fmt.Errorf("write a decision: %w", err)
		}
		f.file, f.size = file, 0
		return nil
	}
}

// prune leaves room for one file.
func (f *Folder) prune(at time.Time) error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return fmt.Errorf("write a decision: %w", err)
	}
	type old struct {
		name string
		size int64
		at   time.Time
	}
	var files []old
	var sum int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), folderPrefix) || !strings.HasSuffix(e.Name(), folderSuffix) {
			continue
		}
		files, sum = append(files, old{e.Name(), info.Size(), info.ModTime()}), sum+info.Size()
	}
	slices.SortFunc(files, func(a, b old) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.name, b.name)) })
	for _, o := range files {
		if sum <= f.Bytes-f.Bytes/folderFiles && at.Sub(o.at) < f.Keep {
			continue
		}
		if err := os.Remove(filepath.Join(f.Dir, o.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write a decision: %w", err)
		}
		sum -= o.size
	}
	return nil
}

// DecisionFiles are the files of what was recorded; none is an error.
func DecisionFiles(fsys fs.FS) ([]string, error) {
	names, err := fs.Glob(fsys, "*"+folderSuffix)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("there is no file *%s", folderSuffix)
	}
	return names, err
}

// Decisions reads what was recorded since then, file by file. A line that is none is an error, and the
// reading goes on behind it: the last line of a process that was stopped may be half a line.
func Decisions(fsys fs.FS, since time.Time) iter.Seq2[Decision, error] {
	return func(yield func(Decision, error) bool) {
		names, err := DecisionFiles(fsys)
		if err != nil {
			yield(Decision{}, fmt.Errorf("read decisions: %w", err))
			return
		}
		for _, name := range names {
			if !decisionsIn(fsys, name, since, yield) {
				return
			}
		}
	}
}

func decisionsIn(fsys fs.FS, name string, since time.Time, yield func(Decision, error) bool) bool {
	file, err := fsys.Open(name)
	if err != nil {
		return yield(Decision{}, fmt.Errorf("read decisions: %w", err))
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, 64<<10)
	for n := 1; ; n++ {
		text, err := lines.ReadSlice('\n')
		var whole []byte
		for errors.Is(err, bufio.ErrBufferFull) && len(whole) <= mostDecision {
			whole = append(whole, text...)
			text, err = lines.ReadSlice('\n')
		}
		whole = append(whole, text...)
		if len(whole) > mostDecision+1 {
			return yield(Decision{}, fmt.Errorf("read decisions: %s:%d: a line of more than %d bytes", name, n, mostDecision))
		}
		var d Decision
		switch {
		case len(whole) == 0:
		case json.Unmarshal(whole, &d) != nil || d.Path != "signalbox":
			if !yield(Decision{}, fmt.Errorf("read decisions: %s:%d: it is no decision of Signalbox", name, n)) {
				return false
			}
		case d.Timestamp.Before(since):
		case !yield(d, nil):
			return false
		}
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			return yield(Decision{}, fmt.Errorf("read decisions: %s: %w", name, err))
		}
	}
}
