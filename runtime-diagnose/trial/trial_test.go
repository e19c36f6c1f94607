package trial

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/test/fakellm"
)

// reader answers every case right: it knows them.
func reader(r fakellm.Request) string {
	for i := range questions {
		q := &questions[i]
		if !strings.Contains(r.User, "[pod/trial-0/trainer#") || !shows(r.User, q) {
			continue
		}
		answer := map[string]any{"healthy": "No", "error": "", "analysis": []string{}, "solution": []string{}, "nominate": map[string]string{"line": "", "quote": "", "category": ""}}
		if q.line > 0 {
			answer["nominate"] = map[string]string{"line": fmt.Sprintf("pod/trial-0/trainer#%d", q.line), "quote": "", "category": q.of[0]}
		}
		if q.known {
			last := len(q.log)
			answer["analysis"] = []string{fmt.Sprintf("The log says %q [pod/trial-0/trainer#%d].", q.log[last-1], last)}
			delete(answer, "nominate")
		}
		text, _ := json.Marshal(answer)
		return string(text)
	}
	return "signal"
}

func shows(prompt string, q *question) bool {
	for _, l := range q.log {
		if !strings.Contains(prompt, strings.TrimSpace(l)) {
			return false
		}
	}
	return true
}

func clientOf(t *testing.T, says func(fakellm.Request) string) llm.Client {
	t.Helper()
	s, err := fakellm.StartSaying(t.Context(), says)
	if err != nil {
		t.Fatal(err)
	}
	c, err := llm.New(llm.Profile{Provider: "openai", BaseURL: s.URL, Model: "m", Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A reader who is always right has twenty right answers; one who always names the line above the end falls into the
// traps, and one who says nothing explains nothing.
func TestTheCasesTellReadersApart(t *testing.T) {
	for name, tc := range map[string]struct {
		says func(fakellm.Request) string
		want int
	}{
		"a good one": {reader, 20},
		"one who names nothing": {func(fakellm.Request) string {
			return `{"healthy":"No","error":"","analysis":[],"solution":[],"nominate":{"line":"","quote":"","category":""}}`
		}, 5},
		"one who always names the second line": {func(fakellm.Request) string {
			return `{"healthy":"No","error":"","analysis":[],"solution":[],"nominate":{"line":"pod/trial-0/trainer#2","quote":"","category":"argument-or-config-error"}}`
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			n, right := 0, 0
			var wrong []string
			err := Run(t.Context(), explain.Explainer{Client: clientOf(t, tc.says)}, time.Now, func(a Answer) {
				if n++; a.Right {
					right++
				} else {
					wrong = append(wrong, a.Case+": "+a.Why)
				}
				if a.In == 0 || a.Out == 0 {
					t.Errorf("%s took %d and %d tokens", a.Case, a.In, a.Out)
				}
			})
			if err != nil || n != 20 || right != tc.want {
				t.Errorf("%d of %d right, want %d of 20 (%v):\n%s", right, n, tc.want, err, strings.Join(wrong, "\n"))
			}
		})
	}
}

func TestTheRulesFindNoCauseWhereAModelIsToNameOne(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for i := range questions {
		q := &questions[i]
		r := diagnose.Diagnose(t.Context(), q.bundle(), catalog, diagnose.Options{Nominees: true})
		if want := map[bool]diagnose.Verdict{true: diagnose.Diagnosed, false: diagnose.Inconclusive}[q.known]; r.Verdict != want {
			t.Errorf("%s: the rules say %s (%s), want %s", q.name, r.Verdict, r.Error, want)
		}
	}
}

func TestAbilities(t *testing.T) {
	got := Abilities(t.Context(), clientOf(t, func(r fakellm.Request) string {
		switch {
		case r.Format == "json_schema":
			return `{"word": "signal"}`
		case strings.Contains(r.System, "Chinese"):
			return "磁盘已满"
		}
		return "the line is clear"
	}))
	if want := "[{answers } {counts tokens } {JSON of a schema } {Chinese } {streams }]"; fmt.Sprint(got) != want {
		t.Errorf("abilities are %v, want %s", got, want)
	}
	poor := Abilities(t.Context(), clientOf(t, func(fakellm.Request) string { return "signal" }))
	if want := "[{answers } {counts tokens } {JSON of a schema it takes the schema and does not hold to it} {Chinese it answers in another script} {streams the answer came in one piece}]"; fmt.Sprint(poor) != want {
		t.Errorf("abilities are %v, want %s", poor, want)
	}
}
