package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// volatile facts change between attempts of one failure.
var volatile = []string{"pid", "localrank", "count", "seq", "sincestart", "at", "silent", "percent", "idle", "usual", "step", "lowest", "now"}

// Fingerprint is equal for two diagnoses that say the same thing of the same job: 16 hex
// digits over verdict, cause, place and texts, without times, attempts, process numbers
// and counts of copies. Writers compare it to know whether anything changed.
func Fingerprint(r Report) string {
	var h strings.Builder
	fmt.Fprintf(&h, "%s\n%s\n%s\n%s\n", r.Job.UID, r.Verdict, r.Category, r.Waiting)
	if c := r.Root; c != nil {
		fmt.Fprintf(&h, "%s\n%s\n%s\n%s\n%d\n%s\n", c.Signature, c.Standing, c.Source.Pod, c.Source.Container, c.Source.Rank, c.Source.Node)
		for _, name := range slices.Sorted(maps.Keys(c.Facts)) {
			if !slices.Contains(volatile, name) {
				fmt.Fprintf(&h, "%s=%s\n", name, c.Facts[name])
			}
		}
	}
	var effects []string
	for _, e := range r.Effects {
		effects = append(effects, e.Signature)
	}
	slices.Sort(effects)
	fmt.Fprintf(&h, "%s\n%s\n", strings.Join(slices.Compact(effects), ","), strings.Join(r.Solution, "\n"))
	sum := sha256.Sum256([]byte(h.String()))
	return hex.EncodeToString(sum[:])[:16]
}
