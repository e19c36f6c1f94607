package explain

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

func TestTheBudgetOfADay(t *testing.T) {
	now := time.Date(2026, 3, 4, 23, 59, 0, 0, time.UTC)
	b := &Budget{Calls: 3, NamespaceCalls: 2, NamespaceTokens: 50, Now: func() time.Time { return now }}
	for i, tc := range []struct {
		namespace string
		tokens    int
		want      string
	}{
		{"a", 10, ""},
		{"a", 10, ""},
		{"a", 0, "2 of 2 calls of namespace a since 00:00 UTC"},
		{"b", 60, ""},
		{"b", 0, "3 of 3 calls since 00:00 UTC"},
	} {
		err := b.take(tc.namespace)
		if (err == nil) != (tc.want == "") || err != nil && (!errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("call %d: error %v, want %q", i, err, tc.want)
		}
		b.spend(tc.namespace, tc.tokens, 0)
	}
	used := map[string]float64{"calls": 1, "namespace-calls": 1, "namespace-tokens": 1.2}
	if diff := cmp.Diff(used, b.Used()); diff != "" {
		t.Errorf("used (-want +got):\n%s", diff)
	}
	now = now.Add(2 * time.Minute)
	if diff := cmp.Diff(map[string]float64{"calls": 0, "namespace-calls": 0, "namespace-tokens": 0}, b.Used()); diff != "" {
		t.Errorf("used on the next day (-want +got):\n%s", diff)
	}
	if err := b.take("b"); err != nil {
		t.Errorf("the next day: %v", err)
	}
	b.spend("b", 60, 0)
	if err := b.take("b"); err == nil || !strings.Contains(err.Error(), "60 of 50 tokens of namespace b") {
		t.Errorf("beyond the tokens: error %v", err)
	}
}

// More namespaces than are counted apart share one account: none is without a limit.
func TestManyNamespacesStayBounded(t *testing.T) {
	b := &Budget{NamespaceCalls: 1}
	for i := range mostNamespaces {
		if err := b.take(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.take("one more"); err != nil {
		t.Fatal(err)
	}
	if err := b.take("and another"); !errors.Is(err, ErrBudget) {
		t.Errorf("error is %v, want ErrBudget: further namespaces share an account", err)
	}
	if len(b.by) > mostNamespaces+1 {
		t.Errorf("%d accounts, want at most %d", len(b.by), mostNamespaces+1)
	}
}

// What another job's answer tells costs nothing; what has to be asked beyond the budget is not.
func TestSharedAnswersAreBeyondTheBudget(t *testing.T) {
	model := &faithful{}
	e := Explainer{Client: model, Answers: NewAnswers(), Budget: &Budget{Calls: 1}}
	for n := range 3 {
		r := failureOf(0, n)
		if told, err := e.Explain(t.Context(), e.Ask(t.Context(), diagnose.Case{}, r), r); err != nil || told.Shared != (n > 0) {
			t.Errorf("job %d: shared %v, error %v", n, told.Shared, err)
		}
	}
	r := failureOf(1, 9)
	if _, err := e.Explain(t.Context(), e.Ask(t.Context(), diagnose.Case{}, r), r); !errors.Is(err, ErrBudget) {
		t.Errorf("another cause: error %v, want ErrBudget", err)
	}
	if n := model.calls.Load(); n != 1 {
		t.Errorf("the model was called %d times, want once", n)
	}
}
