package explain

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Budget is what may be spent on a model in a day (UTC), in all and for each namespace; 0 is no limit.
// Answers that are shared cost nothing. What was spent is counted in memory; see Save.
type Budget struct {
	Calls, Tokens                   int
	NamespaceCalls, NamespaceTokens int
	Money, NamespaceMoney           float64 // in the currency of Price
	Price                           Price
	Now                             func() time.Time // nil: the system's clock

	mu  sync.Mutex
	day string
	all Spent
	by  map[string]*Spent
}

// Price is what a model costs, for a million tokens.
type Price struct{ In, Out float64 }

// Of is what so many tokens cost.
func (p Price) Of(in, out int) float64 { return (p.In*float64(in) + p.Out*float64(out)) / 1e6 }

// Spent is what was spent in a day.
type Spent struct {
	Calls  int     `json:"calls"`
	Tokens int     `json:"tokens"`
	Money  float64 `json:"money,omitempty"`
}

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
		used, most float64
		what       string
	}{
		{float64(b.all.Calls), float64(b.Calls), "calls"},
		{float64(b.all.Tokens), float64(b.Tokens), "tokens"},
		{b.all.Money, b.Money, "of the money"},
		{float64(one.Calls), float64(b.NamespaceCalls), "calls of namespace " + namespace},
		{float64(one.Tokens), float64(b.NamespaceTokens), "tokens of namespace " + namespace},
		{one.Money, b.NamespaceMoney, "of the money of namespace " + namespace},
	} {
		if limit.most > 0 && limit.used >= limit.most {
			return fmt.Errorf("%w: %s of %s %s since 00:00 UTC", ErrBudget, amount(limit.used), amount(limit.most), limit.what)
		}
	}
	b.all.Calls++
	one.Calls++
	return nil
}

// spend counts what an answer took.
func (b *Budget) spend(namespace string, in, out int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	in, out = max(0, in), max(0, out)
	one, cost := b.of(namespace), b.Price.Of(in, out)
	for _, s := range []*Spent{&b.all, one} {
		s.Tokens += in + out
		s.Money += cost
	}
}

// Used is what part of each of the day's limits is used, of those that are set: calls, tokens and money in all, and, as
// namespace-calls, namespace-tokens and namespace-money, of the namespace that used most.
func (b *Budget) Used() map[string]float64 {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.today()
	var most Spent
	for _, s := range b.by {
		most = Spent{max(most.Calls, s.Calls), max(most.Tokens, s.Tokens), max(most.Money, s.Money)}
	}
	used := map[string]float64{}
	for name, part := range map[string][2]float64{
		"calls": {float64(b.all.Calls), float64(b.Calls)}, "tokens": {float64(b.all.Tokens), float64(b.Tokens)}, "money": {b.all.Money, b.Money},
		"namespace-calls": {float64(most.Calls), float64(b.NamespaceCalls)}, "namespace-tokens": {float64(most.Tokens), float64(b.NamespaceTokens)}, "namespace-money": {most.Money, b.NamespaceMoney},
	} {
		if part[1] > 0 {
			used[name] = part[0] / part[1]
		}
	}
	return used
}

// PriceOf is what so many tokens cost; without a budget nothing.
func (b *Budget) PriceOf(in, out int) float64 {
	if b == nil {
		return 0
	}
	return b.Price.Of(in, out)
}

// amount is a number as people write it: whole, or in hundredths.
func amount(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.2f", v), ".00")
}

// of is the account of a namespace today.
func (b *Budget) of(namespace string) *Spent {
	b.today()
	one := b.by[namespace]
	if one == nil && len(b.by) >= mostNamespaces {
		namespace = ""
		one = b.by[namespace]
	}
	if one == nil {
		one = &Spent{}
		b.by[namespace] = one
	}
	return one
}

// today begins the accounts anew where another day has begun.
func (b *Budget) today() {
	now := time.Now
	if b.Now != nil {
		now = b.Now
	}
	if day := now().UTC().Format(time.DateOnly); day != b.day {
		b.day, b.all, b.by = day, Spent{}, map[string]*Spent{}
	}
}
