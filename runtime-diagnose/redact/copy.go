package redact

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// longestPiece is up to where a line is masked in one piece, in bytes.
const longestPiece = 1 << 20

// longestBlock is how much of a log is read at once: the lines of a block are made texts together.
const longestBlock = 64 << 10

// longestWritten is how much of what is masked is made at once.
const longestWritten = 16 << 10

// Copy writes a log as it is, but for its secrets. It holds no more than a line of it. n is what was
// written; the error is the reader's or the writer's.
func Copy(to io.Writer, from io.Reader) (n int64, err error) {
	c := &copier{from: bufio.NewReaderSize(from, longestBlock), scan: newScan()}
	c.scan.out.Grow(longestWritten)
	out := bufio.NewWriterSize(to, longestBlock)
	count := &counter{to: out}
	for {
		text, readErr := c.next()
		if err := c.mask(count, text); err != nil {
			return count.n, err
		}
		if readErr != nil {
			if err := out.Flush(); err != nil {
				return count.n, err
			}
			if errors.Is(readErr, io.EOF) {
				readErr = nil
			}
			return count.n, readErr
		}
	}
}

type counter struct {
	to *bufio.Writer
	n  int64
}

func (c *counter) WriteString(s string) error {
	n, err := c.to.WriteString(s)
	c.n += int64(n)
	return err
}

// copier reads a log in texts that can be masked alone.
type copier struct {
	from  *bufio.Reader
	rest  strings.Builder // of a line that is too long for one piece
	lines Lines
	scan  *scan
}

// next are the lines that are read already, or else the next one with its end, or so much of a very long one, up to a blank
// where it has one.
func (c *copier) next() (string, error) {
	if c.rest.Len() == 0 {
		read, err := c.from.Peek(c.from.Buffered())
		if lines := read[:1+bytes.LastIndexByte(read, '\n')]; len(lines) > 0 && err == nil {
			text := string(lines)
			_, err := c.from.Discard(len(text))
			return text, err
		}
		part, err := c.from.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return string(part), err
		}
		c.rest.Write(part)
	}
	for {
		part, err := c.from.ReadSlice('\n')
		c.rest.Grow(len(part)) // which doubles it, and clears nothing
		c.rest.Write(part)
		switch {
		case !errors.Is(err, bufio.ErrBufferFull):
			return c.take(0), err
		case c.rest.Len() >= longestPiece:
			return c.take(1 + strings.LastIndexAny(c.rest.String(), " \t")), nil
		}
	}
}

// take takes so many bytes of what was read; 0: all.
func (c *copier) take(n int) string {
	text := c.rest.String()
	c.rest.Reset()
	if n == 0 {
		return text
	}
	c.rest.WriteString(text[n:])
	return text[:n]
}

// mask writes lines without their secrets. Those between two that hold one are written together.
func (c *copier) mask(to *counter, text string) error {
	written := 0
	for from := 0; from < len(text); {
		next := len(text)
		if i := strings.IndexByte(text[from:], '\n'); i >= 0 {
			next = from + i + 1
		}
		line := text[from:next]
		for line != "" && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
			line = line[:len(line)-1]
		}
		if hidden := c.lines.masked(line, c.scan); hidden != line {
			if err := to.WriteString(text[written:from]); err != nil {
				return err
			}
			if err := to.WriteString(hidden); err != nil {
				return err
			}
			written = from + len(line)
		}
		from = next
	}
	return to.WriteString(text[written:])
}
