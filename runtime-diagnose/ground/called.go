package ground

import (
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A name is of the lines that hold it: a claim that puts the Secret of one volume into the line of another has only words that were read.

// hyphened are names of several words, as objects of a cluster have.
var hyphened = lazy.MustCompile(`[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+`)

// readElsewhere says whether a claim has a name of several words that was read, and not in what it cites: what the rules say of
// the cause is of its first line.
func (g *grounds) readElsewhere(plain string, cites []evidence.ID) bool {
	for _, name := range hyphened.FindAllString(plain, -1) {
		if name == g.Job || name == g.Namespace || slices.ContainsFunc(cites, func(id evidence.ID) bool { return hasName(g.items[id], name) }) {
			continue
		}
		if slices.ContainsFunc(g.Items, func(i evidence.Item) bool { return hasName(i, name) }) {
			return true
		}
	}
	return false
}

func hasName(i evidence.Item, name string) bool {
	return containsToken(i.Text, name) || containsToken(string(i.ID), name) || i.Source.Pod == name || i.Source.Node == name || i.Source.Container == name || i.Source.Role == name
}
