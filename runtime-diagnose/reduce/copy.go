package reduce

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// longestPiece is up to where a line is masked in one piece, in bytes.
const longestPiece = 1 << 20

// Copy writes a log as it is, but for its secrets: those that Mask finds in its lines, and the
// insides of PEM private keys. It holds no more than a line of it. n is what was written; the error is
// the reader's or the writer's.
func Copy(to io.Writer, from io.Reader) (n int64, err error) {
	c := &copier{from: bufio.NewReaderSize(from, 64<<10)}
	for {
		piece, readErr := c.piece()
		if len(piece) > 0 {
			k, err := io.WriteString(to, c.mask(piece))
			n += int64(k)
			if err != nil {
				return n, err
			}
		}
		if errors.Is(readErr, io.EOF) {
			return n, nil
		}
		if readErr != nil {
			return n, readErr
		}
	}
}

// copier reads a log in pieces that can be masked alone.
type copier struct {
	from *bufio.Reader
	rest []byte // of a line that is too long for one piece
	key  keyHider
}

// piece is the next line with its end, or so much of a very long one, up to a blank where it has one.
func (c *copier) piece() ([]byte, error) {
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
	if n == 0 {
		n = len(c.rest)
	}
	piece := bytes.Clone(c.rest[:n])
	c.rest = append(c.rest[:0], c.rest[n:]...)
	return piece
}

// mask hides the secrets of a piece. Colours within a line may hide one from Mask: then it is
// written without them.
func (c *copier) mask(piece []byte) string {
	line := bytes.TrimRight(piece, "\r\n")
	text := Mask(string(line))
	if control, _ := unusual(line); control {
		if plain := string(stripEscapes(line)); Mask(plain) != plain {
			text = Mask(plain)
		}
	}
	return c.key.hide(text) + string(piece[len(line):])
}

// keyHider blanks the insides of PEM private keys, which no single line gives away.
type keyHider struct{ inside bool }

func (k *keyHider) hide(text string) string {
	const begin, end = "-----BEGIN ", "-----END "
	if strings.Contains(text, "PRIVATE KEY-----") && strings.Contains(text, begin) { // P is rare, dashes are not
		k.inside = !strings.Contains(text, end)
		return text[:strings.Index(text, begin)] + masked
	}
	if k.inside {
		k.inside = !strings.Contains(text, end)
		return masked
	}
	return text
}
