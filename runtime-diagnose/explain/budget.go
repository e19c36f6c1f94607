package explain

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// Budget is what may be spent on a model in a day (UTC), in all and for each namespace; 0 is no limit.
// Answers that are shared cost nothing. What was spent is counted in memory: a restart begins anew.
type Budget struct {
	Calls, Tokens                   int
	NamespaceCalls, NamespaceTokens int
	Now                             func() time.Time // nil: the system's clock

	mu  sync.Mutex
	day string
	all spent
	by  map[string]*spent
}

type spent struct{ calls, tokens int }

// ErrBudget says that the day's budget is used.
var ErrBudget = errors.New("the day's budget for the model is used")

// mostNamespaces bounds what is counted apart: further namespaces share one account.
const mostNamespaces = 4096

// take counts a call before it is made, or says why it is not. A call is made while tokens are left, so that
// a day may end above its budget by the answers under way.
func (b *Budget) take(namespace string) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.of(namespace)
	for _, limit := range []struct {
		used, most int
		what       string
	}{
		{b.all.calls, b.Calls, "calls"},
		{b.all.tokens, b.Tokens, "tokens"},
		{one.calls, b.NamespaceCalls, "calls of namespace " + namespace},
		{one.tokens, b.NamespaceTokens, "tokens of namespace " + namespace},
	} {
		if limit.most > 0 && limit.used >= limit.most {
			return fmt.Errorf("%w: %d of %d %s since 00:00 UTC", ErrBudget, limit.used, limit.most, limit.what)
		}
	}
	b.all.calls++
	one.calls++
	return nil
}

// spend counts what an answer took.
func (b *Budget) spend(namespace string, tokens int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all.tokens += max(0, tokens)
	b.of(namespace).tokens += max(0, tokens)
}

// of is the account of a namespace today.
func (b *Budget) of(namespace string) *spent {
	now := time.Now
	if b.Now != nil {
		now = b.Now
	}
	if day := now().UTC().Format(time.DateOnly); day != b.day {
		b.day, b.all, b.by = day, spent{}, map[string]*spent{}
	}
	one := b.by[namespace]
	if one == nil && len(b.by) >= mostNamespaces {
		namespace = ""
		one = b.by[namespace]
	}
	if one == nil {
		one = &spent{}
		b.by[namespace] = one
	}
	return one
}
