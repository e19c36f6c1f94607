package facts

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

func TestWhatAMessageHasNoRoomForIsCutAndCounted(t *testing.T) {
	for n, want := range map[int]string{60: strings.Repeat("x", 60), 61: strings.Repeat("x", 59) + "…"} {
		if got := Quoted(strings.Repeat("x", n)); got != `"`+want+`"` {
			t.Errorf("%d runes become %s", n, got)
		}
	}
	values := []string{"a", "b", "c", "d", "e"}
	if got := ShortList(values[:4]); got != "a, b, c, d" {
		t.Errorf("4 values become %s", got)
	}
	if got := ShortList(values); got != "a, b, c, d and 1 more" {
		t.Errorf("5 values become %s", got)
	}
}

func TestSumsOfMoreRolesThanAreTriedAreUnknown(t *testing.T) {
	roles := make([]job.Role, 9)
	for i := range roles {
		roles[i].Replicas = job.Exactly(1 << i)
	}
	if got := sums(roles[:8]); len(got) != 255 || got[254] != 255 {
		t.Errorf("8 roles have %d sums", len(got))
	}
	if got := sums(roles); got != nil {
		t.Errorf("9 roles have %d sums; want none, which is unknown", len(got))
	}
}

func TestANameOfOneSlipMoreIsNotTakenForNearlyHeld(t *testing.T) {
	for name, want := range map[string]string{"datasets": ` (it holds "dataset")`, "datasets-": ` (it holds "dataset")`, "datasets-2": ""} {
		if got := nearlyHeld(name, []string{"dataset"}); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
