package signature

import (
	"fmt"
	"io/fs"
	"sync/atomic"
)

// With is the catalog and the signatures of the file systems, which are proven as Load proves
// them: all of them, or an error and nothing. A signature of the catalog cannot be replaced,
// and what hides names has to be there or be one of known.
func (c *Catalog) With(known []string, systems ...fs.FS) (*Catalog, error) {
	own, err := read(Decode, systems...)
	if err != nil {
		return nil, err
	}
	all, err := assemble(append(c.All(), own...))
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, id := range known {
		there[id] = true
	}
	for _, s := range own {
		for _, h := range s.Hides {
			if all.ByID(h) == nil && !there[h] {
				return nil, fmt.Errorf("signature %q hides %q, which there is not", s.ID, h)
			}
		}
	}
	return all, nil
}

// Live is a catalog that is replaced while others read. Make it with NewLive.
type Live struct{ now atomic.Pointer[Catalog] }

// NewLive begins with a catalog.
func NewLive(c *Catalog) *Live {
	l := &Live{}
	l.now.Store(c)
	return l
}

// Catalog is the one in force. A reader keeps it for as long as one log takes.
func (l *Live) Catalog() *Catalog { return l.now.Load() }

// Swap puts another one in force.
func (l *Live) Swap(c *Catalog) { l.now.Store(c) }
