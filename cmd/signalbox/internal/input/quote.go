package input

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxQuoted bounds the files whose lines are quoted.
const maxQuoted = 8 << 20

// Quotes are the lines of the files that findings point at; each file is read once.
type Quotes struct {
	mu    sync.Mutex
	lines map[string][][]byte
	held  map[string][]byte // what came through a pipe or from an address
	alias string            // the file that a pipe goes by; empty: none
	Width int               // of the page; 0: it has no end
}

// Text is a whole file; ok is false where it cannot be read as text.
func (q *Quotes) Text(file string) ([]byte, bool) {
	if q == nil {
		return nil, false
	}
	q.Line(file, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	lines := q.lines[file]
	return bytes.Join(lines, []byte("\n")), len(lines) > 0
}

// Foreign says whether a text that goes by the name of a file is not known to be what stands there: helm and kustomize
// write other lines than a template has.
func (q *Quotes) Foreign(file string) bool {
	if q == nil || q.alias == "" || file != q.alias {
		return false
	}
	text, held := q.held[file]
	if !held {
		return false
	}
	stands, err := os.ReadFile(file)
	return err != nil || text == nil || !bytes.Equal(stands, text)
}

// Line is a line of a file, from 1; ok is false where it cannot be read as text.
func (q *Quotes) Line(file string, n int) (string, bool) {
	if q == nil {
		return "", false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	lines, known := q.lines[file]
	if !known {
		text, held := q.held[file]
		if at, err := os.Stat(file); !held && err == nil && at.Mode().IsRegular() && at.Size() <= maxQuoted {
			text, _ = os.ReadFile(file) // what cannot be read now is not quoted
		}
		if text != nil && utf8.Valid(text) && !bytes.Contains(text, []byte{0}) {
			lines = bytes.Split(text, []byte("\n"))
		}
		if q.lines == nil {
			q.lines = map[string][][]byte{}
		}
		q.lines[file] = lines
	}
	if n < 1 || n > len(lines) {
		return "", false
	}
	return strings.TrimRight(string(lines[n-1]), "\r "), true
}
