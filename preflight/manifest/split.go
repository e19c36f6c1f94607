package manifest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	// maxDocument bounds one document of a stream in memory.
	maxDocument = 512 << 20
	// maxLayers is how often a stream may be compressed: a file can be made that holds nothing
	// but itself, compressed (https://research.swtch.com/zip).
	maxLayers = 2
	// readAtOnce is small beside a job, of which a folder may hold thousands, and large beside
	// what a read costs.
	readAtOnce = 8 << 10
)

// chunk is the text of one document: what stands between two lines of three dashes.
type chunk struct {
	text []byte
	line int // of the first byte, from 1
}

// splitter cuts a stream at document markers. Such a line ends a document even inside a
// block scalar (YAML 1.2.2, 9.1.2), so no parsing is needed to find it.
type splitter struct {
	in   *bufio.Reader
	line int
	next chunk
	done bool
	most int // bytes of one document
}

func newSplitter(r io.Reader) (*splitter, error) {
	in, err := decode(bufio.NewReaderSize(r, readAtOnce), maxLayers)
	if err != nil {
		return nil, err
	}
	return &splitter{in: in, next: chunk{line: 1}, most: maxDocument}, nil
}

// chunk is the next document; io.EOF after the last.
func (s *splitter) chunk() (chunk, error) {
	if s.done {
		return chunk{}, io.EOF
	}
	for {
		start := len(s.next.text)
		err := s.readLine()
		line := s.next.text[start:]
		if len(line) > 0 {
			s.line++
		}
		if err == nil || len(line) > 0 {
			if marker(line) {
				out := chunk{s.next.text[:start:start], s.next.line}
				rest := append([]byte("   "), line[3:]...)
				s.next = chunk{rest, s.line}
				if line[0] == '.' {
					s.next = chunk{nil, s.line + 1}
				}
				s.done = err != nil
				return out, nil
			}
		}
		switch {
		case len(s.next.text) > s.most:
			return chunk{}, fmt.Errorf("one document holds more than %d MiB", s.most>>20)
		case errors.Is(err, io.EOF):
			s.done = true
			return s.next, nil
		case err != nil:
			return chunk{}, err
		}
	}
}

// readLine appends one line, with its end, to the open document.
func (s *splitter) readLine() error {
	for {
		part, err := s.in.ReadSlice('\n')
		s.next.text = append(s.next.text, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if len(s.next.text) > s.most {
			return nil
		}
	}
}

// marker says whether a line is "---" or "...", alone or followed by white space.
func marker(line []byte) bool {
	if len(line) < 3 || string(line[:3]) != "---" && string(line[:3]) != "..." {
		return false
	}
	return len(line) == 3 || strings.ContainsRune(" \t\r\n", rune(line[3]))
}

// blank says whether a document holds nothing but comments, directives and white space.
func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}

// decode undoes compression, of so many layers at most, and byte order marks: PowerShell's >
// writes UTF-16.
func decode(in *bufio.Reader, layers int) (*bufio.Reader, error) {
	head, _ := in.Peek(3)
	marked := func(mark string) bool { return strings.HasPrefix(string(head), mark) }
	switch gzipped := marked("\x1f\x8b"); {
	case gzipped && layers == 0:
		return nil, fmt.Errorf("compressed more than %d times", maxLayers)
	case gzipped:
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		return decode(bufio.NewReaderSize(unzipped, 1<<16), layers-1)
	case marked("\xef\xbb\xbf"), marked("\xff\xfe"), marked("\xfe\xff"):
		return bufio.NewReader(transform.NewReader(in, unicode.BOMOverride(transform.Nop))), nil
	}
	return in, nil
}
