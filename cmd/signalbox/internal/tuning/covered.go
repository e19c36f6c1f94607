package tuning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// SelectedKinds are the kinds that the configuration names, or all.
func SelectedKinds(names []string) ([]*kinds.Kind, error) {
	all := kinds.All()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, k := range all {
		known = append(known, k.Name)
	}
	var out []*kinds.Kind
	var wrong config.Mistakes
	for i, name := range names {
		at := slices.Index(known, name)
		if at < 0 {
			meant := check.DidYouMean(name, known).String()
			if meant == "" {
				meant = "; there are " + strings.Join(known, ", ")
			}
			wrong = append(wrong, fmt.Sprintf("kinds[%d]: no kind is called %q%s", i, name, meant))
			continue
		}
		out = append(out, all[at])
	}
	if len(wrong) > 0 {
		return nil, &shell.Exit{Code: shell.ExitUsage, Cause: wrong}
	}
	return out, nil
}
