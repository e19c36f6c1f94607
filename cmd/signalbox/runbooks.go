package main

import (
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight/checks"
)

// runbooks is where pages about names are: an address with {name} in it, or one to which the pages of the
// reference are added. Empty: outputs hold no address, but for SARIF, which has the reference's.
type runbooks string

// runbooksVariable is the default of --runbooks: a team sets it once.
const runbooksVariable = "SIGNALBOX_RUNBOOKS"

func (r *runbooks) add(to *pflag.FlagSet) {
	to.StringVar((*string)(r), "runbooks", os.Getenv(runbooksVariable), "`address` of your runbooks, with {name} for what is found; printed beside it (default: "+runbooksVariable+")")
}

// wrong says why an address is none.
func (r runbooks) wrong() error {
	if r != "" && !shell.IsAddress(string(r)) {
		return shell.Usagef("--runbooks %s: is no address; expected https://…/{name}", r)
	}
	return nil
}

// page is the address of a name on a page of the reference; empty: there are no runbooks.
func (r runbooks) page(file, name string) string {
	switch {
	case r == "" || name == "":
		return ""
	case strings.Contains(string(r), "{name}"):
		return strings.ReplaceAll(string(r), "{name}", anchor(name))
	}
	return strings.TrimSuffix(string(r), "/") + "/" + file + "#" + anchor(name)
}

// ofEvent is the address of a category, or where there is none of the reason of an Event.
func (r runbooks) ofEvent(category, reason string) string {
	if category != "" {
		return r.page("categories.md", category)
	}
	return r.page("words.md", reason)
}

// ofFinding is the address of a check, or of another name that a finding has.
func (r runbooks) ofFinding(name string) string {
	for _, c := range checks.All() {
		if c.Name == name {
			return r.page("checks.md", name)
		}
	}
	for _, w := range wordList() {
		if w.Name == name {
			return r.page("words.md", name)
		}
	}
	return r.page("policies.md", name)
}
