package main

import (
	"encoding/json"

	"golang.org/x/tools/txtar"

	"github.com/signalbox-dev/signalbox/preflight/check"
)

// allChecks are the checks this binary knows.
func allChecks() (*check.Set, error) { return check.NewSet() }

// fixture is the first example of a check by file name; nil if it has none.
func fixture(check, prefix string) (*txtar.Archive, error) { return nil, nil }

func jsonText(v any) string {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(b)
}
