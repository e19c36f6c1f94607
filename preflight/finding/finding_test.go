package finding_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

func TestSortIsTotal(t *testing.T) {
	want := []finding.Finding{
		{Severity: finding.Error, Path: "spec.b", Check: "a"},
		{Severity: finding.Warning, Path: "spec.z", Check: "a", Stops: true},
		{Severity: finding.Warning, Path: "spec.a", Check: "a", Message: "1"},
		{Severity: finding.Warning, Path: "spec.a", Check: "a", Message: "2"},
		{Severity: finding.Warning, Path: "spec.a", Check: "b"},
		{Severity: finding.Warning, Path: "spec.b", Check: "a"},
		{Severity: finding.Warning, Path: "spec.containers[2].image", Check: "a"},
		{Severity: finding.Warning, Path: "spec.containers[10].env[9]", Check: "a"},
		{Severity: finding.Warning, Path: "spec.containers[10].env[11].name", Check: "a"},
		{Severity: finding.Note, Path: "", Check: "a"},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		got := append([]finding.Finding{}, want...)
		r.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		finding.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Sort (-want +got):\n%s", diff)
		}
	}
}

func TestSeverityInJSON(t *testing.T) {
	for s, want := range map[finding.Severity]string{finding.Note: `"note"`, finding.Warning: `"warning"`, finding.Error: `"error"`} {
		raw, err := json.Marshal(s)
		if err != nil || string(raw) != want {
			t.Errorf("%v is written as %s (%v); want %s", s, raw, err, want)
		}
		var back finding.Severity
		if err := json.Unmarshal(raw, &back); err != nil || back != s {
			t.Errorf("%s is read as %v (%v); want %v", raw, back, err, s)
		}
	}
	var s finding.Severity
	if err := s.UnmarshalText([]byte("fatal")); err == nil || !strings.Contains(err.Error(), "want note, warning or error") {
		t.Errorf("fatal is read: %v", err)
	}
	if _, err := finding.Severity(0).MarshalText(); err == nil {
		t.Error("severity 0 is written")
	}
}

func TestLine(t *testing.T) {
	cases := map[string]struct {
		f    finding.Finding
		want string
	}{
		"with a path":    {finding.Finding{Check: "a-b", Path: "spec.x", Message: "is 3; 2 fit"}, "[a-b] spec.x: is 3; 2 fit"},
		"without a path": {finding.Finding{Check: "a-b", Message: "is odd"}, "[a-b] is odd"},
		"in one line":    {finding.Finding{Check: "a-b", Message: "is\n\todd\x00"}, "[a-b] is odd"},
		"in UTF-8":       {finding.Finding{Check: "a-b", Message: "is \xff"}, "[a-b] is �"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.f.Line(); got != tc.want {
				t.Errorf("Line: %q; want %q", got, tc.want)
			}
		})
	}
}

func many(n int, message string) []finding.Finding {
	out := make([]finding.Finding, n)
	for i := range out {
		out[i] = finding.Finding{Check: "c", Severity: finding.Warning, Path: job.Path(fmt.Sprintf("spec.p%d", i)), Message: message, Remedy: "Do it."}
	}
	return out
}

func TestWarnings(t *testing.T) {
	deep := many(1, "is odd")
	deep[0].Path = "spec.template.limits.cpu"
	cases := map[string]struct {
		fs     []finding.Finding
		budget finding.Budget
		want   []string
	}{
		"none":                        {nil, finding.KubectlBudget, nil},
		"the remedy where it fits":    {many(1, "is odd"), finding.Budget{Lines: 5, Wish: 27, Runes: 256, Bytes: 100}, []string{"[c] spec.p0: is odd. Do it."}},
		"not where it does not":       {many(1, "is odd"), finding.Budget{Lines: 5, Wish: 26, Runes: 256, Bytes: 100}, []string{"[c] spec.p0: is odd"}},
		"the end of the path":         {deep, finding.Budget{Lines: 5, Wish: 24, Runes: 256, Bytes: 100}, []string{"[c] …limits.cpu: is odd"}},
		"the message alone":           {many(1, "is odd"), finding.Budget{Lines: 5, Wish: 15, Runes: 256, Bytes: 100}, []string{"[c] is odd"}},
		"whole, though it is longer":  {many(1, "is odd"), finding.Budget{Lines: 5, Wish: 5, Runes: 256, Bytes: 100}, []string{"[c] is odd"}},
		"cut and marked":              {many(1, "is very odd"), finding.Budget{Lines: 5, Wish: 10, Runes: 10, Bytes: 100}, []string{"[c] is ve…"}},
		"more than the lines":         {many(4, "x"), finding.Budget{Lines: 2, Wish: 30, Runes: 30, Bytes: 300}, []string{"[c] spec.p0: x. Do it.", "[c] spec.p1: x. Do it.", "2 more: see there"}},
		"as many as the lines":        {many(2, "x"), finding.Budget{Lines: 2, Wish: 30, Runes: 30, Bytes: 300}, []string{"[c] spec.p0: x. Do it.", "[c] spec.p1: x. Do it."}},
		"more than the bytes":         {many(3, "x"), finding.Budget{Lines: 5, Wish: 30, Runes: 30, Bytes: 50}, []string{"[c] spec.p0: x. Do it.", "2 more: see there"}},
		"not even room for the count": {many(3, "x"), finding.Budget{Lines: 5, Wish: 30, Runes: 30, Bytes: 4}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, finding.Warnings(tc.fs, tc.budget, "see there")); diff != "" {
				t.Errorf("Warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzWarningsBudget: never over budget, never half a rune, and what was left out is
// counted wherever there is room for the count.
func FuzzWarningsBudget(f *testing.F) {
	f.Add("is odd", "Do it.", 3, 2, 30, 100)
	f.Add("ä\n�世界", "", 9, 5, 7, 64)
	f.Add(strings.Repeat("x", 300), "Do.", 7, 5, 256, 4096)
	f.Fuzz(func(t *testing.T, message, remedy string, n, lines, runes, bytes int) {
		if n < 0 || n > 50 || lines < 0 || lines > 100 || runes < 0 || runes > 1000 || bytes < 0 || bytes > 10000 {
			return
		}
		fs := many(n, message)
		for i := range fs {
			fs[i].Remedy = remedy
		}
		got := finding.Warnings(fs, finding.Budget{Lines: lines, Wish: runes / 2, Runes: runes, Bytes: bytes}, "more there")
		sum := 0
		for _, line := range got {
			sum += len(line)
			if !utf8.ValidString(line) || utf8.RuneCountInString(line) > runes {
				t.Errorf("%q has %d runes of %d, valid: %t", line, utf8.RuneCountInString(line), runes, utf8.ValidString(line))
			}
		}
		if len(got) > lines+1 || sum > bytes {
			t.Errorf("%d lines of %d and one, %d bytes of %d", len(got), lines, sum, bytes)
		}
		if full := runes >= 40 && bytes >= 100; full && len(got) < n && (len(got) == 0 || !strings.Contains(got[len(got)-1], " more: ")) {
			t.Errorf("%d findings, and the last line counts nothing: %q", n, got)
		}
	})
}
