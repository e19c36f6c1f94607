package reference

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Of many names that hold a word twelve are listed, and the others counted.
func TestNamesWithAWordAreListedOrCounted(t *testing.T) {
	for n, want := range map[int]string{12: "gpu-11x", 13: "and 1 more", 500: "and 488 more"} {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("gpu-%dx", i))
		}
		got := NamesWith("gpu", all)
		if !strings.HasSuffix(got, ", "+want) || strings.Count(got, "gpu-") != 12 {
			t.Errorf("of %d: %s; want %s at the end", n, got, want)
		}
	}
}

// A category names three first steps, those of most of its signatures, and counts the others.
func TestFirstStepsOfACategoryAreNamedOrCounted(t *testing.T) {
	for steps, want := range map[int]string{3: "", 4: "\nThose below know 1 other first step; the page of each has its own.\n"} {
		var signs []*signature.Signature
		for i := range steps {
			signs = append(signs, &signature.Signature{ID: fmt.Sprint("s", i), Role: signature.Root, Remedy: fmt.Sprintf("Do the thing called %d.", i)})
		}
		first, more := firstSteps(signs)
		page := categoryPage(signature.Category{Slug: "c", Title: "c", Owner: signature.User}, signs, first, more)
		if len(first) != mostFirstSteps || more != steps-mostFirstSteps || strings.Contains(page, "Those below") != (want != "") || !strings.Contains(page, want) {
			t.Errorf("of %d steps %q and %d more:\n%s", steps, first, more, page)
		}
	}
}
