package manifest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
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

var gzipMagic, utf16LE, utf16BE, utf8BOM = []byte{0x1f, 0x8b}, []byte{0xff, 0xfe}, []byte{0xfe, 0xff}, []byte{0xef, 0xbb, 0xbf}

// decode undoes compression, of so many layers at most, and byte order marks: PowerShell's >
// writes UTF-16.
func decode(in *bufio.Reader, layers int) (*bufio.Reader, error) {
	head, _ := in.Peek(3)
	switch {
	case bytes.HasPrefix(head, gzipMagic) && layers == 0:
		return nil, fmt.Errorf("compressed more than %d times", maxLayers)
	case bytes.HasPrefix(head, gzipMagic):
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		return decode(bufio.NewReaderSize(unzipped, 1<<16), layers-1)
	case bytes.HasPrefix(head, utf8BOM):
		_, err := in.Discard(3)
		return in, err
	case bytes.HasPrefix(head, utf16LE):
		_, err := in.Discard(2)
		return bufio.NewReader(&utf16Reader{in: in, order: binary.LittleEndian}), err
	case bytes.HasPrefix(head, utf16BE):
		_, err := in.Discard(2)
		return bufio.NewReader(&utf16Reader{in: in, order: binary.BigEndian}), err
	}
	return in, nil
}

// utf16Reader reads UTF-16 as UTF-8.
type utf16Reader struct {
	in    *bufio.Reader
	order binary.ByteOrder
	rest  []byte
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	if len(u.rest) == 0 {
		units, err := u.units()
		if err != nil {
			return 0, err
		}
		u.rest = []byte(string(utf16.Decode(units)))
	}
	n := copy(p, u.rest)
	u.rest = u.rest[n:]
	return n, nil
}

// units reads up to a few thousand code units and never ends between two surrogates.
func (u *utf16Reader) units() ([]uint16, error) {
	var out []uint16
	var two [2]byte
	for len(out) < 4096 || out[len(out)-1]>>10 == 0xd800>>10 {
		if _, err := io.ReadFull(u.in, two[:]); err != nil {
			if len(out) > 0 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)) {
				return out, nil
			}
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF
			}
			return nil, err
		}
		out = append(out, u.order.Uint16(two[:]))
	}
	return out, nil
}
