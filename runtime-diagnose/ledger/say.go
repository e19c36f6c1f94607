package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// mostNamed bounds the attempts that the platform ended and that are told one by one.
const mostNamed = 3

// Sentences are what a ledger shows that no single attempt does: where they died, of what, what they took, and
// which of them the platform ended. One failure shows nothing.
func (l Ledger) Sentences() []string {
	n := l.Len()
	if n < 2 {
		return nil
	}
	var out []string
	if node, k := l.most(nodeOf); 2*k > n && k > 1 {
		out = append(out, fmt.Sprintf("%s attempts that failed died first on %s.", of(k, n), node))
	}
	if cause, k := l.most(func(t Tally) string { return t.Cause }); 2*k > n && k > 1 {
		out = append(out, fmt.Sprintf("%s failed attempts ended of one cause: %s.", of(k, n), l.title(cause)))
	}
	ended := 0
	for _, a := range slices.Backward(l.Attempts) {
		if !a.Platform {
			continue
		}
		if ended++; ended <= mostNamed {
			out = append(out, a.sentence())
		}
	}
	if n := ended - mostNamed; n > 0 {
		out = append(out, fmt.Sprintf("%d earlier attempt%s %s ended by the platform, too.", n, words.S(n), words.Was(n)))
	}
	var took time.Duration
	hours := 0.0
	for _, a := range l.Attempts {
		took, hours = took+a.Ended.Sub(a.Began), hours+a.GPUHours
	}
	for _, t := range l.Before {
		hours += t.GPUHours
	}
	if hours > 0 {
		out = append(out, fmt.Sprintf("The %d attempts that failed took %s GPU hours.", n, Hours(hours)))
	} else if len(l.Before) == 0 {
		out = append(out, fmt.Sprintf("The %d attempts that failed ran %s together.", n, words.Short(took)))
	}
	return out
}

func of(k, n int) string {
	if k == n {
		return fmt.Sprintf("All %d", n)
	}
	return fmt.Sprintf("%d of %d", k, n)
}

func (a Attempt) sentence() string {
	text := fmt.Sprintf("Attempt %d was ended by the platform", a.Number)
	if a.Node != "" {
		text += " on node " + a.Node
	}
	text += " at " + a.Ended.UTC().Format("Jan 02 15:04") + ": " + a.Says
	if a.Upgrade != "" {
		text += "; the node was being upgraded: " + a.Upgrade
	}
	return text + "."
}

// nodeOf is the node that failed attempts died on: it has no part in it that a pod on it was told to go.
func nodeOf(t Tally) string {
	if t.Cause == "sigterm-preempted" {
		return ""
	}
	return t.Node
}

// most is the value that most attempts share; empty values do not count.
func (l Ledger) most(key func(Tally) string) (string, int) {
	count := map[string]int{}
	for _, t := range l.Before {
		count[key(t)] += t.Times
	}
	for _, a := range l.Attempts {
		count[key(Tally{Cause: a.Cause, Node: a.Node})]++
	}
	best, n := "", 0
	for k, v := range count {
		if k != "" && (v > n || v == n && cmp.Less(k, best)) {
			best, n = k, v
		}
	}
	return best, n
}

// title is a cause in words, as the last attempt that ended of it tells it.
func (l Ledger) title(cause string) string {
	for _, a := range slices.Backward(l.Attempts) {
		if a.Cause == cause && a.Says != "" {
			return strings.TrimSuffix(a.Says, ".")
		}
	}
	return cause
}
