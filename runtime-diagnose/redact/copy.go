package redact

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// longestPiece is up to where a line is masked in one piece, in bytes.
const longestPiece = 1 << 20

// Copy writes a log as it is, but for its secrets. It holds no more than a line of it. n is what was
// written; the error is the reader's or the writer's.
func Copy(to io.Writer, from io.Reader) (n int64, err error) {
	c := &copier{from: bufio.NewReaderSize(from, 64<<10)}
	out := bufio.NewWriterSize(to, 64<<10)
	count := &counter{to: out}
	for {
		piece, readErr := c.piece()
		if len(piece) > 0 {
			if err := c.mask(count, piece); err != nil {
				return count.n, err
			}
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

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	return n, err
}

func (c *counter) WriteString(s string) error {
	n, err := c.to.WriteString(s)
	c.n += int64(n)
	return err
}

// copier reads a log in pieces that can be masked alone.
type copier struct {
	from  *bufio.Reader
	rest  []byte // of a line that is too long for one piece
	lines Lines
}

// piece is the next line with its end, or so much of a very long one, up to a blank where it has one. It
// is good until the next.
func (c *copier) piece() ([]byte, error) {
	if len(c.rest) == 0 {
		part, err := c.from.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return part, err
		}
		c.rest = append(c.rest, part...)
	}
	for {
		part, err := c.from.ReadSlice('\n')
		c.rest = append(c.rest, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(c.rest) < longestPiece:
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			return c.take(1 + bytes.LastIndexAny(c.rest, " \t")), nil
		default:
			return c.take(len(c.rest)), err
		}
	}
}

// take takes so many bytes of what was read; 0: all.
func (c *copier) take(n int) []byte {
	if n == 0 || n == len(c.rest) {
		piece := c.rest
		c.rest = c.rest[:0]
		return piece
	}
	piece := bytes.Clone(c.rest[:n])
	c.rest = append(c.rest[:0], c.rest[n:]...)
	return piece
}

// mask writes a piece without its secrets.
func (c *copier) mask(to *counter, piece []byte) error {
	line := bytes.TrimRight(piece, "\r\n")
	text := string(line)
	if has := Look(line); has.Has(Control | Beyond) {
		plain := cleaned(text, has)
		if hidden := c.lines.Next(plain); hidden != plain {
			text = Line(hidden)
		} else {
			text = lineOf(text, plain)
		}
	} else {
		text = settle(c.lines.NextOf(text, has))
	}
	if err := to.WriteString(text); err != nil {
		return err
	}
	_, err := to.Write(piece[len(line):])
	return err
}
