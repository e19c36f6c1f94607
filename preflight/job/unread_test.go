package job_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// TestEveryKindOfUnreadHasItsSentence: each kind says something of its own, also with too few
// arguments, and the last one is PatchedContainerMissing.
func TestEveryKindOfUnreadHasItsSentence(t *testing.T) {
	said := map[string]job.UnreadKind{}
	for kind := job.FieldUnknown; kind <= job.PatchedContainerMissing; kind++ {
		for _, args := range [][]string{nil, {"a", "b", "c"}} {
			text := job.Unread{Kind: kind, Args: args}.String()
			if text == "" || text == "not read" {
				t.Errorf("kind %d has no sentence", kind)
			}
			if args == nil {
				continue
			}
			if other, twice := said[text]; twice && (other != job.RuntimeFieldUnknown || kind != job.RuntimeFieldNewer) {
				t.Errorf("kinds %d and %d both say %q", other, kind, text)
			}
			said[text] = kind
		}
	}
	if text := (job.Unread{Kind: job.PatchedContainerMissing + 1}).String(); text != "not read" {
		t.Errorf("the kind after the last one says %q", text)
	}
	roles := job.Unread{Kind: job.RoleUnknown, Args: []string{"PyTorchJob", "Master", "Worker"}}
	if got := roles.String(); !strings.HasSuffix(got, "PyTorchJob has the roles Master, Worker") || !roles.NotAField() {
		t.Errorf("a role that is none: %q", got)
	}
}
