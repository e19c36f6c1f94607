package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// Program is one more program to run beside the control plane, such as the one under test. It lives and dies
// with the cluster; its log is <name>.log in LogDir.
type Program struct {
	Name, Path string
	Ports      int // free ports it wants
	// Args are its arguments, given the ports of this attempt.
	Args func(port []int) ([]string, error)
	// Ready is one probe, given the same ports; nil error: it is ready.
	Ready func(ctx context.Context, port []int) error
}

// Run starts a program and returns when it is ready.
func (c *Cluster) Run(ctx context.Context, p Program) error {
	return c.run(ctx, p.Name, p.Ports, func(port []int) (launch, error) {
		args, err := p.Args(port)
		return launch{program: p.Path, args: args, ready: func(ctx context.Context) error { return p.Ready(ctx, port) }}, err
	})
}

// Answers is a probe: nil when a GET of the URL answers 200.
func Answers(ctx context.Context, url string) error {
	_, err := Get(ctx, url)
	return err
}

// Get is what a URL answers with 200.
func Get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %.1024s", url, answer.Status, body)
	}
	return body, err
}
