package explain

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// After a restart no model is asked again, and what was spent today is still spent; not what was spent yesterday.
func TestAnswersAndAccountsOutliveARestart(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	budget := func() *Budget {
		return &Budget{Calls: 1, Price: Price{In: 1e6, Out: 2e6}, Now: func() time.Time { return now }}
	}
	model := &faithful{}
	first := Explainer{Client: model, Answers: NewAnswers(), Budget: budget()}
	tell := func(e Explainer, cause, n int) (Told, error) {
		r := failureOf(cause, n)
		return e.Explain(t.Context(), e.Ask(t.Context(), diagnose.Case{}, r), r)
	}
	if _, err := tell(first, 0, 1); err != nil {
		t.Fatal(err)
	}
	data, err := first.Save()
	if err != nil {
		t.Fatal(err)
	}
	again := Explainer{Client: model, Answers: NewAnswers(), Budget: budget()}
	if err := again.Load(data); err != nil {
		t.Fatal(err)
	}
	told, err := tell(again, 0, 2)
	if err != nil || !told.Shared || told.Saved != (Saved{10, 10}) || model.calls.Load() != 1 || !strings.Contains(told.Story.Text, "2002 MiB") {
		t.Errorf("after a restart: %+v, %v, %d calls", told, err, model.calls.Load())
	}
	if _, err := tell(again, 1, 3); !errors.Is(err, ErrBudget) || again.Budget.all != (Spent{Calls: 1, Tokens: 20, Money: 30}) {
		t.Errorf("what was spent is forgotten: %v, %+v", err, again.Budget.all)
	}
	now = now.Add(24 * time.Hour)
	later := Explainer{Client: model, Answers: NewAnswers(), Budget: budget()}
	if err := later.Load(data); err != nil || later.Budget.all != (Spent{}) {
		t.Errorf("yesterday's is counted today: %v, %+v", err, later.Budget.all)
	}
	if err := later.Load([]byte("no archive")); err == nil {
		t.Error("what is none was read")
	}
}

func TestMoneyIsBoundedAsWell(t *testing.T) {
	b := &Budget{NamespaceMoney: 0.5, Money: 2, Price: Price{In: 1, Out: 4}}
	if err := b.take("a"); err != nil {
		t.Fatal(err)
	}
	b.spend("a", 100_000, 100_000)
	if err := b.take("a"); err == nil || !strings.Contains(err.Error(), "0.50 of 0.50 of the money of namespace a") {
		t.Errorf("error %v", err)
	}
	if err := b.take("b"); err != nil {
		t.Errorf("another namespace: %v", err)
	}
}

// One more answer than are remembered leaves the oldest out; more bytes than there is room for leave out those
// that were not used for long.
func TestWhatIsKeptIsBounded(t *testing.T) {
	a := NewAnswers()
	for i := range mostAnswers + 1 {
		a.put(fmt.Sprint(i), remembered{Text: "x"})
	}
	if _, ok := a.get("0"); ok || len(a.known) != mostAnswers || len(a.order) != mostAnswers {
		t.Errorf("%d answers are remembered, want %d", len(a.known), mostAnswers)
	}
	big := Explainer{Answers: NewAnswers()}
	for i := range 64 {
		var b strings.Builder
		for k := range 16 << 10 { // nothing that packs well
			fmt.Fprintf(&b, "%x", (k+1)*(i+3)*2654435761%4294967291)
		}
		big.Answers.put(fmt.Sprint(i), remembered{Text: b.String()})
	}
	data, err := big.Save()
	if err != nil || len(data) > MostKept {
		t.Fatalf("%d bytes, %v; there is room for %d", len(data), err, MostKept)
	}
	read := Explainer{Answers: NewAnswers()}
	if err := read.Load(data); err != nil {
		t.Fatal(err)
	}
	if _, newest := read.Answers.get("63"); !newest || len(read.Answers.known) == 64 {
		t.Errorf("%d answers were kept, the newest %v", len(read.Answers.known), newest)
	}
}
