//go:build ignore

// New lays out a signature: its file and its fixtures, ready to be filled in.
//
//	make new-signature NAME=nccl-ring-broken
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
pattern: '%[1]s (?P<what>\w+)' # RE2; named groups become facts; each alternative holds a text of 4 bytes or more
domain: user # who acts: user, platform, hardware, network, storage, unknown
retry: unknown # helps, useless, unknown
proves: 'What a match proves, with facts: {{.what|something}}.'
doesNotProve: 'What it does not, however much it looks so.'
remedy: |
  One step a line, imperative.
references:
  - https://example.org/the-source-that-prints-it
`

// sections of the fixtures: what the pattern matches, a line for each of its alternatives, and what looks alike.
const sections = "-- match --\n-- match --\n-- other --\n-- other --\n"

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
	root := "."
	if _, err := os.Stat("catalog"); err != nil {
		root = filepath.Join("runtime-diagnose", "signature")
	}
	if _, err := os.Stat(filepath.Join(root, "catalog")); err != nil {
		return fmt.Errorf("find the catalog: run this at the top of the repository or in %s: %w", filepath.Join("runtime-diagnose", "signature"), err)
	}
	file := filepath.Join(root, "catalog", args[0]+".yaml")
	if _, err := os.Stat(file); err == nil {
		return fmt.Errorf("signature %s is there already: %s", args[0], file)
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, template, args[0]), 0o644); err != nil {
		return fmt.Errorf("write signature: %w", err)
	}
	fixtures := filepath.Join(root, "testdata", args[0]+".txtar")
	if err := os.WriteFile(fixtures, []byte(sections), 0o644); err != nil {
		return fmt.Errorf("write fixtures: %w", err)
	}
	fmt.Printf("fill in %s and %s, then: go test ./runtime-diagnose/signature\n", file, fixtures)
	return nil
}
