package diagnose

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// sniffed is how much of a text is looked at to see what it is.
const sniffed = 32 << 10

// plain is evidence as UTF-8 text, read as it comes. A kubelet compresses the logs it rotated,
// and PowerShell writes UTF-16 when it redirects, some programs without a byte order mark
// (https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_character_encoding).
// What is no text is an error at once; a compressed text that was cut is one at its end.
func plain(in io.Reader) (io.Reader, error) {
	r := bufio.NewReaderSize(in, sniffed)
	head, err := r.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, err
	}
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("is gzip that does not begin well (%w)", err)
		}
		r = bufio.NewReaderSize(cutGzip{z}, sniffed)
		if head, err = r.Peek(sniffed); len(head) == 0 && err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("is gzip that cannot be read (%w)", err)
		}
	}
	const magic = 257 // where a tar archive says what it is
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return nil, errors.New("is a zip archive, which is read where its name ends in .zip")
	case len(head) > magic+5 && string(head[magic:magic+5]) == "ustar":
		return nil, errors.New("is a tar archive (bundles go to --bundle)")
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}):
		return fromUTF16(r, 0), discard(r, 2)
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return fromUTF16(r, 1), discard(r, 2)
	}
	if low, ok := bareUTF16(head); ok {
		return fromUTF16(r, low), nil
	}
	if binary(head) {
		return nil, errors.New("is not text")
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		return r, discard(r, 3)
	}
	return r, nil
}

func discard(r *bufio.Reader, n int) error {
	_, err := r.Discard(n)
	return err
}

// cutGzip says in words what an end in the middle is.
type cutGzip struct{ r io.Reader }

func (c cutGzip) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the compressed file ends in the middle: %w", err)
	}
	return n, err
}

// bareUTF16 recognises UTF-16 without a mark: of Latin text every second byte is zero, and
// none of the others is.
func bareUTF16(head []byte) (low int, ok bool) {
	pairs := len(head) / 2
	if pairs < 8 {
		return 0, false
	}
	var zeros [2]int
	for i, b := range head[:2*pairs] {
		if b == 0 {
			zeros[i%2]++
		}
	}
	for low := range 2 {
		if zeros[1-low]*10 >= pairs*7 && zeros[low]*50 <= pairs {
			return low, true
		}
	}
	return 0, false
}

// fromUTF16 is text as UTF-8; low is the place of the low byte in each pair.
func fromUTF16(in io.Reader, low int) io.Reader {
	order := []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian}[low]
	return unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder().Reader(in)
}

// binary says that a file is no text: in its first part more than three in ten characters
// are none. Logs may hold some odd bytes, and runs of zeros where a node lost power.
func binary(raw []byte) bool {
	odd, all := 0, 0
	for part := raw[:min(sniffed, len(raw))]; len(part) > 0; {
		r, size := utf8.DecodeRune(part)
		part = part[size:]
		if r == 0 {
			continue
		}
		all++
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != 0x1b && r != '\b' {
			odd++
		}
	}
	return odd*10 > all*3
}
