package checks_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/check/checktest"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/finding"
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

// TestEveryMessageHasItsPlace: the path leads to what is written there, in the job itself.
func TestEveryMessageHasItsPlace(t *testing.T) {
	eachFinding(t, func(fixture string, f checktest.Fixture, found finding.Finding) {
		if _, err := found.Path.Resolve(f.Input.Job.Source.Object); err != nil {
			t.Errorf("%s: [%s] %v", fixture, found.Check, err)
		}
	})
}

// TestEveryMessageSaysWhatIsWritten: where the path leads to one value, the message says it, so
// that nobody has to look it up.
func TestEveryMessageSaysWhatIsWritten(t *testing.T) {
	used := map[string]bool{}
	eachFinding(t, func(fixture string, f checktest.Fixture, found finding.Finding) {
		at, err := found.Path.Resolve(f.Input.Job.Source.Object)
		if err != nil {
			return // TestEveryMessageHasItsPlace
		}
		if value, scalar := scalarText(at); scalar && !says(found, value) {
			if used[found.Check] = true; writtenOtherwise[found.Check] == "" {
				t.Errorf("%s: [%s] does not say %q, which is at %s: %s", fixture, found.Check, value, found.Path, found.Message)
			}
		}
	})
	stale(t, "writtenOtherwise", writtenOtherwise, used)
}

// writtenOtherwise are checks whose path leads to a value that the message gives in another
// form, and in which.
var writtenOtherwise = map[string]string{
	"devices-exceed-published":       "the limit is on devices, and the path leads to the number of pods that ask for them",
	"quota-exceeded":                 "the limit is on a sum, and the path leads to the number of pods that make it up",
	"cpu-below-data-loaders":         "the path leads to the flag, whose value is the next word",
	"key-written-twice":              "the message names the two lines, one of which the path leads to",
	"queue-closed":                   "the queue that is written is open, and the message names the one behind it",
	"template-changed-while-running": "the value of a variable may be a secret and is not repeated",
	"unknown-field":                  "the field has no effect, and so its value does not matter",
}

// TestEveryMessageComparesWhatItCompares: two values at least, numbers or what is written in
// quotes or as a word of the job. A message with one of them leaves out what it is measured by.
func TestEveryMessageComparesWhatItCompares(t *testing.T) {
	used := map[string]bool{}
	eachFinding(t, func(fixture string, f checktest.Fixture, found finding.Finding) {
		if values := valuesIn(found, f.Input.Job.Source.Object); len(values) < 2 {
			if used[found.Check] = true; comparesNothing[found.Check] == "" {
				t.Errorf("%s: [%s] has the values %q; want two: %s", fixture, found.Check, values, found.Message)
			}
		}
	})
	stale(t, "comparesNothing", comparesNothing, used)
}

// comparesNothing are checks that see one thing which must not be, or must be and is not, and
// have nothing to measure it by.
var comparesNothing = map[string]string{
	"immutable-field-changed":        "one of the two sides is that nothing was written",
	"job-restart-policy-missing":     "there is no policy, and two words of the API would do",
	"no-pods-asked":                  "there are no pods, and any number of them would do",
	"queue-closed":                   "the two sides are states of the queue, words that the job does not hold",
	"template-changed-while-running": "both sides may be secrets and are not repeated",
	"unknown-field":                  "the two sides are names of fields, one of which only the CRD holds",
}

// stale complains about exemptions that no fixture needs, and about those without a reason.
func stale(t *testing.T, list string, exempt map[string]string, used map[string]bool) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(exempt)) {
		if !used[name] {
			t.Errorf("%s: no fixture needs %s any more", list, name)
		}
		if len(strings.Fields(exempt[name])) < 4 {
			t.Errorf("%s: the reason of %s is %q; want a sentence", list, name, exempt[name])
		}
	}
}

// scalarText is a value of the job as a person would read it; ok is false for objects and
// lists, and for true and false: the message says what that means.
func scalarText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, v != ""
	case int64, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// says tells whether a message holds a value, or its beginning where that is long. Of a word
// of a command line, or a whole script, one part is enough: --nproc=8 is said by 8 processes.
func says(f finding.Finding, value string) bool {
	const longest = 40 // quoted cuts at 60
	holds := func(text string) bool {
		if r := []rune(text); len(r) > longest {
			text = string(r[:longest])
		}
		return strings.Contains(f.Message, text) || strings.Contains(f.Message, strings.Trim(strconv.Quote(text), `"`))
	}
	if !commandLine.MatchString(string(f.Path)) {
		return holds(value)
	}
	parts := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" =\n;:,{}$", r) })
	return slices.ContainsFunc(parts, func(part string) bool {
		return holds(strings.ReplaceAll(strings.TrimLeft(part, "-"), "_", "-")) || holds(part)
	})
}

// commandLine is a path that leads to a word of a command line.
var commandLine = regexp.MustCompile(`\.(command|args)\[[0-9]+\]$`)

// valuesIn are the values that a finding holds: the numbers with their units and the texts in
// quotes of its message, and words that stand in the job as a key or a value, or in its path.
func valuesIn(found finding.Finding, object any) (out []string) {
	written := map[string]bool{}
	words(object, written)
	last := strings.TrimPrefix(string(found.Path[len(found.Path.Parent()):]), ".")
	if strings.HasPrefix(found.Message, "is ") { // the line begins with the path
		out = append(out, last)
	}
	for i, part := range strings.Split(found.Message, `"`) {
		if i%2 == 1 { // in quotes
			out = append(out, part)
			continue
		}
		out = append(out, amounts.FindAllString(part, -1)...)
		for _, w := range strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune(" ,;:()", r) }) {
			if written[w] && w != last && !amounts.MatchString(w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// amounts are numbers with what belongs to them: 8, 64Gi, 500m, 1.5; and variables: $RANK.
var amounts = regexp.MustCompile(`\$[A-Z_]+\b|\b[0-9]+(\.[0-9]+)?[A-Za-z]*\b`)

// words collects the keys and texts of an object.
func words(value any, into map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for key, e := range v {
			into[key] = true
			words(e, into)
		}
	case []any:
		for _, e := range v {
			words(e, into)
		}
	default:
		into[fmt.Sprint(v)] = true
	}
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
