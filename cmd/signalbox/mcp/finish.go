package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// finishing is a transport whose end is told only when all that was asked is answered: input that came through a
// pipe ends with its last question, and the protocol's server drops what still runs when its input ends.
type finishing struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (t finishing) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &finishingConn{Connection: c, open: map[jsonrpc.ID]bool{}, closed: make(chan struct{})}, nil
}

type finishingConn struct {
	mcp.Connection
	mu     sync.Mutex
	open   map[jsonrpc.ID]bool // requests without an answer
	ended  chan struct{}       // closed when none is open; nil: the input has not ended
	closed chan struct{}
	once   sync.Once
}

// Read implements mcp.Connection.
func (c *finishingConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		c.wait(ctx)
		return m, err
	}
	if r, ok := m.(*jsonrpc.Request); ok {
		switch {
		case r.ID.IsValid():
			c.mu.Lock()
			c.open[r.ID] = true
			c.mu.Unlock()
		case r.Method == "notifications/cancelled":
			c.cancelled(r.Params)
		}
	}
	return m, err
}

// Write implements mcp.Connection.
func (c *finishingConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		c.done(r.ID)
	}
	return err
}

// Close implements mcp.Connection.
func (c *finishingConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}

// wait is over when every request has its answer.
func (c *finishingConn) wait(ctx context.Context) {
	c.mu.Lock()
	if c.ended == nil {
		c.ended = make(chan struct{})
		if len(c.open) == 0 {
			close(c.ended)
		}
	}
	ended := c.ended
	c.mu.Unlock()
	select {
	case <-ended:
	case <-c.closed:
	case <-ctx.Done():
	}
}

// done is called for an answer, also for one that could not be written.
func (c *finishingConn) done(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.open[id] {
		return
	}
	delete(c.open, id)
	if c.ended != nil && len(c.open) == 0 {
		close(c.ended)
	}
}

// cancelled is a request that the client no longer wants answered, and that may stay without an answer.
func (c *finishingConn) cancelled(params json.RawMessage) {
	var which struct {
		RequestID any `json:"requestId"`
	}
	if json.Unmarshal(params, &which) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(which.RequestID); err == nil {
		c.done(id)
	}
}
