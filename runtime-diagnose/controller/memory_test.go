package controller

import (
	"fmt"
	"runtime"
	"testing"
	"time"

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

// Where a hundred jobs are created each second, thousands wait for the first look at them.
func TestAJobThatWasJustCreatedTakesLittle(t *testing.T) {
	const jobs, most = 10_000, 700 // bytes; what is remembered of a job that was looked at has 2,500 and more
	var m memory
	inUse := func() int64 {
		runtime.GC()
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	before := inUse()
	for i := range jobs {
		m.introduce(types.UID(fmt.Sprint("uid-", i)), Request{"PyTorchJob", "team", fmt.Sprint(i)}, noteOf([]Warning{{Check: "a-check", Says: "says so"}}, time.Now()))
	}
	if each := (inUse() - before) / jobs; each > most {
		t.Errorf("a job that was just created takes %d bytes; want %d at most", each, most)
	}
	key := Request{"PyTorchJob", "team", "7"}
	if known := m.of("uid-7", key); !known.reviewed || len(known.warned.Checks) != 1 || m.untouched(key) || len(m.fresh) != jobs-1 {
		t.Errorf("looked at, it is remembered as %+v, and %d are fresh", known.warned, len(m.fresh))
	}
	if m.touch(Request{"PyTorchJob", "team", "8"}); m.untouched(Request{"PyTorchJob", "team", "8"}) {
		t.Error("a job of which something has become is untouched")
	}
	if m.forget(Request{"PyTorchJob", "team", "9"}, ""); len(m.fresh) != jobs-2 {
		t.Errorf("%d jobs are fresh; want the one that is gone forgotten", len(m.fresh))
	}
	if m.forgetKind("PyTorchJob"); len(m.fresh) != 0 {
		t.Errorf("%d jobs are left of a kind that is gone", len(m.fresh))
	}
	runtime.KeepAlive(&m)
}
