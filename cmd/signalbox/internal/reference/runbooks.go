package reference

import (
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight/checks"
)

// Runbooks is where pages about names are: an address with {name} in it, or one to which the pages of the
// reference are added. Empty: outputs hold no address, but for SARIF, which has the reference's.
type Runbooks string

// runbooksVariable is the default of --runbooks: a team sets it once.
const runbooksVariable = "SIGNALBOX_RUNBOOKS"

// Add adds --runbooks.
func (r *Runbooks) Add(to *pflag.FlagSet) {
	to.StringVar((*string)(r), "runbooks", os.Getenv(runbooksVariable), "`address` of your runbooks, with {name} for what is found; printed beside it (default: "+runbooksVariable+")")
}

// Wrong says why an address is none.
func (r Runbooks) Wrong() error {
	if r != "" && !shell.IsAddress(string(r)) {
		return shell.Usagef("--runbooks %s: is no address; expected https://…/{name}", r)
	}
	return nil
}

// Page is the address of a name on a page of the reference; empty: there are no runbooks.
func (r Runbooks) Page(file, name string) string {
	switch {
	case r == "" || name == "":
		return ""
	case strings.Contains(string(r), "{name}"):
		return strings.ReplaceAll(string(r), "{name}", Anchor(name))
	}
	return strings.TrimSuffix(string(r), "/") + "/" + file + "#" + Anchor(name)
}

// OfEvent is the address of a category, or where there is none of the reason of an Event.
func (r Runbooks) OfEvent(category, reason string) string {
	if category != "" {
		return r.Page("categories.md", category)
	}
	return r.Page("words.md", reason)
}

// OfFinding is the address of a check, or of another name that a finding has.
func (r Runbooks) OfFinding(name string) string {
	for _, c := range checks.All() {
		if c.Name == name {
			return r.Page("checks.md", name)
		}
	}
	for _, w := range Words() {
		if w.Name == name {
			return r.Page("words.md", name)
		}
	}
	return r.Page("policies.md", name)
}
