package tuning

import (
	"slices"
	"sync"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
)

// OthersThan are the checks besides those of --select; of no names there are none.
func OthersThan(selected []string) ([]string, error) {
	if len(selected) == 0 {
		return nil, nil
	}
	all, err := All()
	if err != nil {
		return nil, err
	}
	for _, name := range selected {
		if _, err := all.Find(name); err != nil {
			return nil, shell.Usagef("--select: %v", err)
		}
	}
	return slices.DeleteFunc(all.Names(), func(name string) bool { return slices.Contains(selected, name) }), nil
}

// All are the checks this binary knows.
var All = sync.OnceValues(func() (*check.Set, error) { return check.NewSet(checks.All()...) })
