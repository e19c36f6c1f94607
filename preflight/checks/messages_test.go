package checks_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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
		for _, f := range checktest.Load(t, checks.Dir(c.Name)) {
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
	"devices-exceed-published": "the limit is on devices, and the path leads to the number of pods that ask for them",
	"quota-exceeded":           "the limit is on a sum, and the path leads to the number of pods that make it up",
	"cpu-below-data-loaders":   "the path leads to the flag, whose value is the next word",
	"key-written-twice":        "the message names the two lines, one of which the path leads to",
	"queue-closed":             "the queue that is written is open, and the message names the one behind it",
	"unknown-field":            "the field has no effect, and so its value does not matter",
}

// TestEveryMessageHasASubject: a warning is read without the path that it begins with, which
// terminals cut; the sentence says itself what it is about.
func TestEveryMessageHasASubject(t *testing.T) {
	eachFinding(t, func(fixture string, _ checktest.Fixture, found finding.Finding) {
		for _, fault := range faults(found) {
			t.Errorf("%s: [%s] %s: %s", fixture, found.Check, fault, found.Message)
		}
	})
}

// faults are what is wrong with a message whatever it is about.
func faults(found finding.Finding) (out []string) {
	first, _, _ := strings.Cut(found.Message, " ")
	if slices.Contains(verbs, first) {
		out = append(out, "begins with a verb; want what it is about first")
	}
	if found.Path == "" {
		out = append(out, "has no path")
	}
	if strings.HasSuffix(found.Message, ".") {
		out = append(out, "ends with a full stop; a remedy follows")
	}
	if found := thousands.FindString(found.Message); found != "" {
		out = append(out, "shortens a count: "+found)
	}
	if found := oneOfMany.FindString(found.Message); found != "" {
		out = append(out, "counts one as many: "+found)
	}
	return out
}

// thousands is a count such as 2k: a number is written out, for whoever acts on it. oneOfMany is
// a plural after 1.
var (
	thousands = regexp.MustCompile(`\b[0-9]+k\b`)
	oneOfMany = regexp.MustCompile(`(^|[^0-9.,:x-])1 (pods|nodes|GPUs|Workers|workers|processes|hosts|slots|claims|replicas|containers)\b`)
)

// TestABadMessageIsFound: the rules above fail for messages that break them.
func TestABadMessageIsFound(t *testing.T) {
	at := job.Path("spec")
	for name, tc := range map[string]struct {
		found finding.Finding
		want  string
	}{
		"a verb first":  {finding.Finding{Path: at, Message: "is named without an amount"}, "begins with a verb"},
		"no path":       {finding.Finding{Message: "the job has no Worker"}, "has no path"},
		"two sentences": {finding.Finding{Path: at, Message: "the job has no Worker."}, "ends with a full stop"},
		"2k":            {finding.Finding{Path: at, Message: "the pods ask for 2k nvidia.com/gpu"}, "shortens a count"},
		"1 pods":        {finding.Finding{Path: at, Message: "the job has 1 pods"}, "counts one as many"},
	} {
		t.Run(name, func(t *testing.T) {
			got := faults(tc.found)
			if len(got) != 1 || !strings.HasPrefix(got[0], tc.want) {
				t.Errorf("faults of %q are %q; want one: %s", tc.found.Message, got, tc.want)
			}
		})
	}
	for name, line := range map[string]string{
		"a number":           `p.Reportf(at, "of %d roles, %d train", roles, 0)`,
		"a word":             `p.Reportf(at, "%s is missing", "the image")`,
		"a count of one":     `p.Reportf(at, "%s is missing", facts.Count(1, "image"))`,
		"of a finding":       `p.ReportAs(finding.Finding{Path: at}, "%d of %d", n, 2)`,
		"below a Sprintf":    `p.Report(finding.Finding{Path: at, Message: fmt.Sprintf("%d of %d", n, 2)})`,
		"a constant by name": `const most = 4; p.Reportf(at, "%d words in %d", n, most)`,
		"a sign before it":   `p.Reportf(at, "%d is not %d", n, -1)`,
	} {
		t.Run(name, func(t *testing.T) {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, "bad.go", "package bad\nfunc run() {"+line+"}", 0)
			if err != nil {
				t.Fatal(err)
			}
			if found, _ := constants(file); len(found) != 1 {
				t.Errorf("%s holds %d constants as values; want 1", line, len(found))
			}
		})
	}
}

// verbs begin sentences whose subject is left to the path.
var verbs = []string{
	"is", "are", "has", "have", "was", "will", "can", "cannot", "may", "must", "does", "names", "sets", "holds", "asks", "says", "lies",
	"goes", "needs", "wants", "takes", "uses", "mounts", "writes", "gives", "makes", "reads", "runs", "starts", "waits",
}

// TestNoConstantIsFedInAsAValue: "of %d roles, %d", 0 is a number for its own sake. What is always
// the same is written into the sentence.
func TestNoConstantIsFedInAsAValue(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*/*.go", "internal/*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	fset, calls := token.NewFileSet(), 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		found, looked := constants(file)
		calls += looked
		for _, constant := range found {
			t.Errorf("%s: a constant as a value: write it into the sentence", fset.Position(constant.Pos()))
		}
	}
	if calls < 100 {
		t.Errorf("%d values of messages were looked at; want 100 at least: are they made in another way?", calls)
	}
}

// constants are the values of sentences in a file that are always the same, and how many values
// there are at all.
func constants(file *ast.File) (found []ast.Expr, looked int) {
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			for _, arg := range values(call) {
				if looked++; constant(arg) {
					found = append(found, arg)
				}
			}
		}
		return true
	})
	return found, looked
}

// constant says whether an expression is a literal, one with a sign, or a constant of the file.
func constant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.UnaryExpr:
		return constant(e.X)
	case *ast.Ident:
		return e.Obj != nil && e.Obj.Kind == ast.Con
	}
	return false
}

// values are the arguments of a call that end up as values in a sentence.
func values(call *ast.CallExpr) []ast.Expr {
	name := called(call)
	from, wanted := map[string]int{"Sprintf": 1, "Reportf": 2, "ReportAs": 2, "report": 2, "refuse": 2, "Count": 0}[name]
	switch {
	case !wanted || len(call.Args) <= from:
		return nil
	case name == "Count":
		return call.Args[:1]
	}
	return call.Args[from:]
}

// called is the name of what is called, without its package.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
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

// TestEveryMessageFitsIntoOneLine: kubectl shows at most five warnings, and cuts none of them.
func TestEveryMessageFitsIntoOneLine(t *testing.T) {
	byFixture := map[string][]finding.Finding{}
	eachFinding(t, func(fixture string, _ checktest.Fixture, found finding.Finding) {
		if n := utf8.RuneCountInString(found.Line()); n > finding.KubectlBudget.Runes {
			t.Errorf("%s: the line has %d characters; kubectl shows %d: %s", fixture, n, finding.KubectlBudget.Runes, found.Line())
		}
		byFixture[fixture] = append(byFixture[fixture], found)
	})
	var lengths []int
	for fixture, all := range byFixture {
		finding.Sort(all)
		lines := finding.Warnings(all, finding.KubectlBudget, "kubectl signalbox check -f FILE")
		if len(lines) > finding.KubectlBudget.Lines+1 {
			t.Errorf("%s: %d lines; want %d and one that counts the rest", fixture, len(lines), finding.KubectlBudget.Lines)
		}
		for i, f := range all[:min(len(all), finding.KubectlBudget.Lines)] {
			if !strings.HasPrefix(lines[i], "["+f.Check+"] ") || !strings.Contains(lines[i], strings.Join(strings.Fields(f.Message), " ")) {
				t.Errorf("%s: warning %d is %q; want the gravest first, whole: %q", fixture, i+1, lines[i], f.Line())
			}

			lengths = append(lengths, utf8.RuneCountInString(lines[i]))
		}
	}
	slices.Sort(lengths)
	if median := lengths[len(lengths)/2]; median > finding.KubectlBudget.Wish {
		t.Errorf("the median of %d warnings has %d characters; want %d or less", len(lengths), median, finding.KubectlBudget.Wish)
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
