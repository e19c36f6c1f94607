package collect

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestJobsThatFailTogetherAskOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, asked := &Shared{}, 0
		question := func(err error) func() (*int, error) {
			return func() (*int, error) {
				asked++
				return &asked, err
			}
		}
		key := sharedKey{what: "node", name: "n1"}
		for range 3 {
			if _, err := ask(s, key, question(nil)); err != nil {
				t.Error(err)
			}
		}
		if asked != 1 {
			t.Errorf("three within %s asked %d times; want once", defaultShared, asked)
		}
		time.Sleep(defaultShared + 1) //nolint:forbidigo // the clock is the test's
		_, _ = ask(s, key, question(errors.New("gone")))
		if _, err := ask(s, key, question(nil)); err != nil || asked != 3 {
			t.Errorf("after an error of another's: %v, asked %d times; want 3", err, asked)
		}
		for i := range mostShared + 1 {
			_, _ = ask(s, sharedKey{what: "node", name: fmt.Sprint("m", i)}, question(nil))
		}
		if len(s.answers) != mostShared {
			t.Errorf("%d answers are held; want %d", len(s.answers), mostShared)
		}
		before := asked
		_, _ = ask(s, sharedKey{what: "node", name: fmt.Sprint("m", mostShared)}, question(nil))
		if asked != before {
			t.Error("the newest answer made room for itself")
		}
		time.Sleep(defaultShared + 1) //nolint:forbidigo // the clock is the test's
		synctest.Wait()
		if len(s.answers) != 0 {
			t.Errorf("%d answers are held after their time, though nobody asks", len(s.answers))
		}
	})
}

// How long an answer serves is how long changes of a job wait; where they do not wait, nothing is shared.
func TestAnswersAreSharedAsLongAsChangesWait(t *testing.T) {
	for name, tc := range map[string]struct {
		lasts, later time.Duration
		want         int
	}{
		"within a short while":         {100 * time.Millisecond, 99 * time.Millisecond, 1},
		"after a short while":          {100 * time.Millisecond, 101 * time.Millisecond, 2},
		"nobody said, within a second": {0, 999 * time.Millisecond, 1},
		"nothing is shared":            {-1, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, asked := &Shared{For: tc.lasts}, 0
				for range 2 {
					_, _ = ask(s, sharedKey{what: "node"}, func() (int, error) { asked++; return 0, nil })
					time.Sleep(tc.later) //nolint:forbidigo // the clock is the test's
				}
				if asked != tc.want {
					t.Errorf("asked %d times; want %d", asked, tc.want)
				}
			})
		})
	}
}

// lacking is a mapper of a cluster without the kind.
type lacking struct {
	meta.RESTMapper
	asked int
}

func (l *lacking) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	l.asked++
	return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
}

func TestAKindThatTheClusterLacksIsAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &lacking{}
		c := &Cluster{Mapper: m, Shared: &Shared{}}
		look := func(version string) {
			if _, err := c.mapping(schema.GroupKind{Group: "resource.k8s.io", Kind: "DeviceTaintRule"}, version); !meta.IsNoMatchError(err) {
				t.Errorf("%v; want that nothing matches", err)
			}
		}
		look("v1")
		look("v1")
		if m.asked != 1 {
			t.Errorf("asked %d times; want once", m.asked)
		}
		look("v1beta1")           // may be served all the same
		time.Sleep(absentFor + 1) //nolint:forbidigo // the clock is the test's
		look("v1")
		if m.asked != 3 {
			t.Errorf("another version, and later: asked %d times; want 3", m.asked)
		}
	})
}

// Owner references are made up by whoever writes them, and so are their kinds.
func TestKindsThatAClusterLacksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &lacking{}
		c := &Cluster{Mapper: m, Shared: &Shared{}}
		look := func(i int) {
			_, _ = c.mapping(schema.GroupKind{Group: "made.up", Kind: fmt.Sprint("Kind", i)}, "v1")
			time.Sleep(time.Millisecond) //nolint:forbidigo // the clock is the test's
		}
		for i := range mostAbsent + 1 {
			look(i)
		}
		before := m.asked
		if _, err := c.mapping(schema.GroupKind{Group: "batch", Kind: "Job"}, strings.Repeat("v", longestVersion+1)); !meta.IsNoMatchError(err) || m.asked != before {
			t.Errorf("%v after %d questions about what is no version", err, m.asked-before)
		}
		if len(c.Shared.absent) != mostAbsent {
			t.Errorf("%d kinds are held; want %d", len(c.Shared.absent), mostAbsent)
		}
		before = m.asked
		look(mostAbsent)
		if m.asked != before {
			t.Error("the newest kind was forgotten instead of the oldest")
		}
		time.Sleep(absentFor) //nolint:forbidigo // the clock is the test's
		look(0)
		if len(c.Shared.absent) != 1 {
			t.Errorf("%d kinds are held after their time; want the one that was asked for last", len(c.Shared.absent))
		}
	})
}
