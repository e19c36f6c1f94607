//go:build ignore

// New lays out a signature: its file and its four fixtures, ready to be filled in.
//
//	go run ./runtime-diagnose/signature/new.go nccl-ring-broken
//
// The tests of the package fail until the fixtures say something.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

const template = `id: %[1]s
title: what happened, in a few words
since: "0.1"
category: python-exception-user-code # one slug of categories.go: the cause, not the loudest line
role: root # root, cascade (somebody else failed first), confirmation, context (never a cause)
kinds: [log] # log, event, status, exit, node, frame
literals: # every line the pattern matches contains one of them, letters taken without case
  - '%[1]s'
pattern: '%[1]s (?P<what>\w+)' # RE2; named groups become facts
domain: user # who acts: user, platform, hardware, network, storage, unknown
retry: unknown # helps, useless, unknown
proves: 'What a match proves, with facts: {{.what|something}}.'
doesNotProve: 'What it does not, however much it looks so.'
remedy: |
  One step a line, imperative.
references:
  - https://example.org/the-source-that-prints-it
`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) != 1 || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(args[0]) {
		return fmt.Errorf("usage: new.go NAME; a name is lower-case words joined by dashes")
	}
	root := filepath.Join("runtime-diagnose", "signature")
	if _, err := os.Stat(filepath.Join(root, "catalog")); err != nil {
		return fmt.Errorf("find the catalog: run this at the top of the repository: %w", err)
	}
	file := filepath.Join(root, "catalog", args[0]+".yaml")
	if _, err := os.Stat(file); err == nil {
		return fmt.Errorf("signature %s is there already: %s", args[0], file)
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, template, args[0]), 0o644); err != nil {
		return fmt.Errorf("write signature: %w", err)
	}
	dir := filepath.Join(root, "testdata", args[0])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write fixtures: %w", err)
	}
	for _, name := range []string{"match-1.log", "match-2.log", "other-1.log", "other-2.log"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			return fmt.Errorf("write fixtures: %w", err)
		}
	}
	fmt.Printf("fill in %s and %s, then: go test ./%s\n", file, dir, root)
	return nil
}
