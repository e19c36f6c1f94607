package policies

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/preflight"
)

// Cost is how long one policy takes to answer about some jobs.
type Cost struct {
	Policy  string        `json:"policy"`
	Asked   int           `json:"asked"`
	P50     time.Duration `json:"p50Nanoseconds"`
	P99     time.Duration `json:"p99Nanoseconds"`
	Most    time.Duration `json:"mostNanoseconds"`
	Failure string        `json:"failure,omitempty"` // the last one
}

// Measure asks every policy by itself about every input, so many times over, and says how long
// the answers took: the slowest policy first, by its 99th percentile. Policies that the data does
// not configure are not asked, as in a review.
func Measure(ctx context.Context, in preflight.Policies, inputs []preflight.Input, rounds int, now func() time.Time) ([]Cost, error) {
	s, ok := in.(*set)
	if !ok {
		return nil, nil
	}
	took, failures := map[string][]time.Duration{}, map[string]string{}
	w := watch(ctx)
	defer w.stop()
	for range rounds {
		for _, input := range inputs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			spent := map[string]time.Duration{}
			for _, r := range s.rules {
				if r.silent {
					continue
				}
				start := now()
				value := readInput()(w.machine, &input) // each reads what it looks at
				_, err := w.ask(ctx, r, shared(ctx, 1), value, input.Request.Mode, false)
				w.machine.Forget()
				spent[r.doc.Name] += now().Sub(start)
				if err != nil {
					failures[r.doc.Name] = reason(err)
				}
			}
			for name, d := range spent {
				took[name] = append(took[name], d)
			}
		}
	}
	var out []Cost
	for name, all := range took {
		slices.Sort(all)
		out = append(out, Cost{
			Policy: name, Asked: len(all), P50: all[len(all)/2], P99: all[(len(all)-1)*99/100], Most: all[len(all)-1], Failure: failures[name],
		})
	}
	slices.SortFunc(out, func(a, b Cost) int { return cmp.Or(cmp.Compare(b.P99, a.P99), cmp.Compare(a.Policy, b.Policy)) })
	return out, nil
}
