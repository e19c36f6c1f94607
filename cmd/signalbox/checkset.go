package main

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
)

// allChecks are the checks this binary knows.
func allChecks() (*check.Set, error) { return check.NewSet(checks.All()...) }
