package collect

import (
	"errors"
	"fmt"
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
			t.Errorf("three within %s asked %d times; want once", sharedFor, asked)
		}
		time.Sleep(sharedFor + 1) //nolint:forbidigo // the clock is the test's
		_, _ = ask(s, key, question(errors.New("gone")))
		if _, err := ask(s, key, question(nil)); err != nil || asked != 3 {
			t.Errorf("after an error of another's: %v, asked %d times; want 3", err, asked)
		}
		for i := range mostShared + 1 {
			_, _ = ask(s, sharedKey{what: "node", name: fmt.Sprint("m", i)}, question(nil))
		}
		if len(s.answers) > mostShared {
			t.Errorf("%d answers are held; want at most %d", len(s.answers), mostShared)
		}
	})
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
