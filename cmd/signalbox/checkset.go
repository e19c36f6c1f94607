package main

import (
	"encoding/json"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
)

// allChecks are the checks this binary knows.
func allChecks() (*check.Set, error) { return check.NewSet(checks.All()...) }

func jsonText(v any) string {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(b)
}
