package checks_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/check/checktest"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// eachFinding visits what a check says about its own fixtures.
func eachFinding(t *testing.T, visit func(fixture string, f checktest.Fixture, found finding.Finding)) {
	t.Helper()
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range set.Checks() {
		for _, f := range checktest.Load(t, filepath.Join("testdata", c.Name)) {
			for _, o := range set.Run(t.Context(), f.Input) {
				for _, found := range o.Findings {
					visit(c.Name+"/"+f.Name, f, found)
				}
			}
		}
	}
}

// TestEveryMessageHasItsPlace: a path leads to the value, or to what should hold it.
func TestEveryMessageHasItsPlace(t *testing.T) {
	eachFinding(t, func(fixture string, f checktest.Fixture, found finding.Finding) {
		if !resolves(found.Path, f.Input.Job.Source.Object) && !resolves(found.Path.Parent(), f.Input.Job.Source.Object) {
			t.Errorf("%s: neither %s nor what should hold it is in the job", fixture, found.Path)
		}
	})
}

func resolves(at job.Path, object any) bool {
	_, err := at.Resolve(object)
	return err == nil
}

// TestEveryMessageSaysWhatIs: a number, or what is written there, in quotes or as a word of
// the API. A message without any of them says no more than its title.
func TestEveryMessageSaysWhatIs(t *testing.T) {
	eachFinding(t, func(fixture string, _ checktest.Fixture, found finding.Finding) {
		if !strings.ContainsAny(found.Message, `0123456789"`) && !wordsOfTheAPI[found.Check] {
			t.Errorf("%s: [%s] says neither a number nor what is written: %s", fixture, found.Check, found.Message)
		}
	})
}

// wordsOfTheAPI are checks about names: what is and what should be are both words.
var wordsOfTheAPI = map[string]bool{
	"checkpoint-not-kept": true, "job-restart-policy-missing": true, "mpi-launcher-count": true, "name-twice": true,
	"queue-closed": true, "queue-missing": true, "quota-amount-missing": true, "quotes-in-argument": true,
	"restart-cannot-rejoin": true, "restart-policy-overwritten": true, "role-misspelt": true, "secret-in-plain-text": true,
	"shm-without-size": true, "template-changed-while-running": true, "unknown-field": true,
}

// TestEveryMessageFitsIntoOneLine: kubectl shows at most five warnings, and cuts none of them.
func TestEveryMessageFitsIntoOneLine(t *testing.T) {
	byFixture := map[string][]finding.Finding{}
	eachFinding(t, func(fixture string, _ checktest.Fixture, found finding.Finding) {
		if n := utf8.RuneCountInString(found.Line()); n > finding.KubectlBudget.Runes {
			t.Errorf("%s: the line has %d characters; kubectl shows %d: %s", fixture, n, finding.KubectlBudget.Runes, found.Line())
		}
		byFixture[fixture] = append(byFixture[fixture], found)
	})
	for fixture, all := range byFixture {
		finding.Sort(all)
		lines := finding.Warnings(all, finding.KubectlBudget, "kubectl signalbox check -f FILE")
		if len(lines) > finding.KubectlBudget.Lines+1 {
			t.Errorf("%s: %d lines; want %d and one that counts the rest", fixture, len(lines), finding.KubectlBudget.Lines)
		}
		for i, f := range all[:min(len(all), finding.KubectlBudget.Lines)] {
			if !strings.HasPrefix(lines[i], f.Line()) {
				t.Errorf("%s: warning %d is %q; want the gravest first, whole: %q", fixture, i+1, lines[i], f.Line())
			}
		}
	}
}

// TestEveryParameterIsDocumented: what can be set is said where people look.
func TestEveryParameterIsDocumented(t *testing.T) {
	seen := 0
	for _, c := range checks.All() {
		for _, p := range c.Parameters() {
			seen++
			if len(strings.Fields(p.Doc)) < 3 || strings.ToLower(p.Name[:1]) != p.Name[:1] {
				t.Errorf("%s: parameter %q says %q; want a name in lower case and a doc tag that says what it is", c.Name, p.Name, p.Doc)
			}
		}
	}
	if seen == 0 {
		t.Error("no check has a parameter; equal silence proves nothing")
	}
}
