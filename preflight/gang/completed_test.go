package gang

import (
	"fmt"
	"testing"
)

func TestPodsThatHaveCompletedAreNotAskedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		count, least, members, done int
		want                        string
	}{
		"some of all":                   {4, 4, 0, 3, "1 of them, 1 at least; 0 members"},
		"all of all":                    {4, 4, 0, 4, "0 of them, 0 at least; 0 members"},
		"more than there are":           {4, 4, 0, 9, "0 of them, 0 at least; 0 members"},
		"fewer than none":               {4, 4, 0, -1, "4 of them, 4 at least; 0 members"},
		"some that need not be there":   {4, 2, 0, 1, "3 of them, 1 at least; 0 members"},
		"those that the gang waits for": {4, 4, 3, 2, "2 of them, 2 at least; 1 members"},
		"all that the gang waits for":   {4, 4, 3, 3, "1 of them, 1 at least; 1 members"},
	} {
		g := Gang{MinMembers: tc.members, Groups: []Group{{Name: "w", Count: tc.count, Min: tc.least}, {Name: "other", Count: 1, Min: 1}}}
		g.Completed("w", tc.done)
		if got := fmt.Sprintf("%d of them, %d at least; %d members", g.Groups[0].Count, g.Groups[0].Min, g.MinMembers); got != tc.want || g.Groups[1].Count != 1 {
			t.Errorf("%s: %s, want %s; the other group has %d", name, got, tc.want, g.Groups[1].Count)
		}
	}
}
