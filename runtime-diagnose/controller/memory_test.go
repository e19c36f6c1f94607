package controller

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// With each look at a job those of its name are forgotten that were there before it. Where that goes through all jobs,
// this does not end within the time limit of a test.
func TestALookAtAJobDoesNotGoThroughAllOthers(t *testing.T) {
	const jobs = 100_000
	var m memory
	for i := range jobs {
		key, uid := Request{"PyTorchJob", "team", fmt.Sprint(i)}, types.UID(fmt.Sprint(i))
		m.forget(key, uid)
		m.of(uid, key)
	}
	key := Request{"PyTorchJob", "team", "7"}
	m.of("7", key).looks = 1
	m.of("newer", key).looks = 2
	if m.forget(key, "newer"); len(m.jobs) != jobs || m.of("newer", key).looks != 2 {
		t.Errorf("%d jobs are known; want %d, with the newer of two of one name", len(m.jobs), jobs)
	}
	if m.forget(key, ""); len(m.jobs) != jobs-1 || len(m.uids) != jobs-1 {
		t.Errorf("%d jobs of %d names are known; want %d", len(m.jobs), len(m.uids), jobs-1)
	}
	if m.forgetKind("PyTorchJob"); len(m.jobs)+len(m.uids) != 0 {
		t.Errorf("%d jobs of %d names are left of a kind that is gone", len(m.jobs), len(m.uids))
	}
}
