package capture

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
)

// text is a log as it was read.
type text struct {
	bytes []byte
	at    time.Time
}

// textsFor is how long a text is held: a job is diagnosed at once, or twice.
const textsFor = 2 * time.Minute

// hold keeps a text that was read as far as the limits go, of a container that has ended: it does
// not change any more, so it is not read again. Texts take at most half of the memory. The
// lock is held.
func (k *Keeper) hold(one *kept, t task, read []byte) {
	if t.shallow || t.record.Ended.IsZero() || len(read) == 0 {
		return
	}
	if k.texts+int64(len(read)) > k.Memory/2 {
		return
	}
	k.texts += int64(len(read))
	if one.texts == nil {
		one.texts = map[keep.Key]text{}
	}
	one.texts[t.record.Key] = text{read, k.Now()}
}

// heldBytes is what the texts of a job take; the lock is held.
func (one *kept) heldBytes() int64 {
	var n int64
	for _, t := range one.texts {
		n += int64(len(t.bytes))
	}
	return n
}

// Text is a log of a container that has ended as collect.ReadLog read it; nil: it is not held. It
// is for Cluster.Text of package collect.
func (k *Keeper) Text(ref job.Ref, key keep.Key) []byte {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if one := k.jobs[types.UID(ref.UID)]; one != nil {
		return one.texts[key].bytes
	}
	return nil
}

// Busy says that logs of a job are being read.
func (k *Keeper) Busy(uid types.UID) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.jobs[uid]
	return one != nil && len(one.claimed) > 0
}

// Reads under way are waited for: what is read twice passes the API server twice. Those of pods that
// are gone are waited for in any case, since nothing else has them; the others as long as they come.
const noneFor = 2 * time.Second

// Set is a view of what is kept of a job, when the reads under way are done. present are the pods
// that the API server still has. It is for Cluster.Kept of package collect.
func (k *Keeper) Set(ctx context.Context, ref job.Ref, present map[types.UID]bool) (*keep.Set, error) {
	if k == nil {
		return nil, nil
	}
	uid := types.UID(ref.UID)
	waiting, cancel := context.WithTimeout(ctx, oneLog)
	defer cancel()
	for done, gone := k.pending(ref, present); done != nil; done, gone = k.pending(ref, present) {
		if !comes(waiting, done, gone) {
			break
		}
	}
	err := k.load(ctx, uid)
	k.mu.Lock()
	defer k.mu.Unlock()
	if one := k.jobs[uid]; one != nil {
		return one.set.Clone(), err
	}
	return nil, err
}

// comes waits for the next read to be done; false: it does not come in time.
func comes(ctx context.Context, done <-chan struct{}, gone bool) bool {
	if !gone {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, noneFor)
		defer cancel()
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// pending is closed when the next read is done, if one is under way, and gone says whether one is of
// a pod that is not there any more.
func (k *Keeper) pending(ref job.Ref, present map[types.UID]bool) (done <-chan struct{}, gone bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.of(ref)
	for key := range one.claimed {
		if !present[key.Pod] {
			return one.done, true
		}
	}
	return one.done, false
}

// What is kept of all jobs is counted after so long, or when so much has come that there may be too much: a count goes through
// all of them, and a namespace may have thousands that fail together.
const (
	countedEvery = textsFor / 4
	countedAgain = time.Second // where nothing could be forgotten
	slack        = 8           // a part of the memory that is made free at a time
)

// grow notes that so much was added, roughly; the lock is held.
func (k *Keeper) grow(bytes int64) { k.grown += bytes }

// due says that all jobs are to be counted; the lock is held.
func (k *Keeper) due() bool {
	since := k.Now().Sub(k.countedAt)
	if k.used+k.grown <= k.Memory {
		return since >= countedEvery
	}
	return k.used <= k.Memory || k.grown > k.Memory/slack || since >= countedAgain
}

// forgetOldest keeps memory within its bound; the lock is held. Texts go first: the API server has
// them. What is written can be read again; what is not, where nothing is written, is lost.
func (k *Keeper) forgetOldest() {
	if !k.due() {
		return
	}
	k.used, k.texts, k.grown, k.countedAt = 0, 0, 0, k.Now()
	var all []*kept
	for _, one := range k.jobs {
		for key, t := range one.texts {
			if k.Now().Sub(t.at) > textsFor {
				delete(one.texts, key)
			}
		}
		held := one.heldBytes()
		k.used += one.set.Bytes() + held
		k.texts += held
		all = append(all, one)
	}
	if k.used <= k.Memory {
		return
	}
	most := k.Memory - k.Memory/slack
	slices.SortFunc(all, func(a, b *kept) int { return a.used.Compare(b.used) })
	for _, one := range all {
		if k.used <= most {
			return
		}
		held := one.heldBytes()
		k.used -= held
		k.texts -= held
		one.texts = nil
	}
	for _, one := range all {
		if k.used <= most {
			return
		}
		if len(one.claimed) > 0 || k.PerJob > 0 && !one.changed.IsZero() {
			continue
		}
		k.used -= one.set.Bytes()
		delete(k.jobs, types.UID(one.ref.UID))
	}
}
