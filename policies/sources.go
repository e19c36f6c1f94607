package policies

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Sources are places that policies come from, each at its own time: ConfigMaps, a bundle. All of them
// are one set: what one of them brings is taken only if it compiles with what the others have brought,
// and if all tests in it hold. Make it with NewSources.
type Sources struct {
	set     *OPA
	builtin fs.FS

	mu   sync.Mutex
	from map[string][]fs.FS // the last good ones
}

// NewSources makes an empty choice of sources for a set that holds the builtin policies already.
func NewSources(set *OPA, builtin fs.FS) *Sources {
	return &Sources{set: set, builtin: builtin, from: map[string][]fs.FS{}}
}

// Source is one place that policies come from.
type Source struct {
	all  *Sources
	name string
}

// Source is the place of a name.
func (s *Sources) Source(name string) *Source { return &Source{s, name} }

// testTime bounds the tests of a set that is loaded.
const testTime = 10 * time.Second

// Swap replaces all that the source brought before. On an error the set that was there stays.
func (s *Source) Swap(files ...fs.FS) error {
	all := s.all
	all.mu.Lock()
	defer all.mu.Unlock()
	next := maps.Clone(all.from)
	next[s.name] = files
	sources := []fs.FS{all.builtin}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		sources = append(sources, next[name]...)
	}
	ctx, stop := context.WithTimeout(context.Background(), testTime)
	defer stop()
	built, err := load(ctx, sources)
	if err != nil {
		return err
	}
	if err := hold(ctx, sources); err != nil {
		return err
	}
	all.from = next
	all.set.current.Store(built)
	return nil
}

// Revision is that of the whole set.
func (s *Source) Revision() string { return s.all.set.Revision() }

// hold runs the tests that come with policies; the error names those that fail.
func hold(ctx context.Context, sources []fs.FS) error {
	rules, documents, err := collect(sources)
	if err != nil {
		return err
	}
	var failed []string
	for _, fsys := range sources {
		if fsys == nil {
			continue
		}
		tested, err := regoTests(ctx, fsys, rules, documents)
		if err != nil {
			return err
		}
		for _, t := range tested {
			if t.Problem != "" {
				failed = append(failed, t.Fixture+": "+t.Problem)
			}
		}
	}
	if len(failed) == 0 {
		return ctx.Err()
	}
	const most = 5
	if more := len(failed) - most; more > 0 {
		failed = append(failed[:most], fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("tests of policies fail: %s", strings.Join(failed, "; "))
}
