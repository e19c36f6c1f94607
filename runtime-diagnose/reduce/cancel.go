package reduce

import (
	"context"
	"io"
)

// Cancelable is a reader that stops when the context ends, with its error.
func Cancelable(ctx context.Context, from io.Reader) io.Reader { return cancelable{ctx, from} }

type cancelable struct {
	ctx  context.Context
	from io.Reader
}

func (c cancelable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.from.Read(p)
}
