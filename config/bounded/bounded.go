// Package bounded ends what a server sends without end: what it answers is read up to a bound, and one byte more is an error.
// It bounds a body, not what is made of it.
//
// Start reading at Body.
package bounded

import (
	"fmt"
	"io"
)

// Body is a body of which reading fails behind so many bytes, whole MiB. The error says of what: "the answer".
func Body(of io.ReadCloser, most int64, what string) io.ReadCloser {
	return &body{ReadCloser: of, left: most, most: most, what: what}
}

type body struct {
	io.ReadCloser

	left, most int64
	what       string
}

func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.tooLong()
	}
	if int64(len(p)) > b.left+1 { // one more, to see that there is one
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, b.tooLong()
	}
	return n, err
}

func (b *body) tooLong() error { return fmt.Errorf("%s has more than %d MiB", b.what, b.most>>20) }
