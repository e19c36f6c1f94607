package signature_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// shipped loads once.
var shipped = sync.OnceValues(signature.Builtin)

func builtin(t testing.TB) *signature.Catalog {
	t.Helper()
	c, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fixtures are the sections of testdata/<id>.txtar with a name, by their place.
func fixtures(t testing.TB, id, name string) map[string]string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", id+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i, f := range archive.Files {
		if f.Name == name {
			out[fmt.Sprintf("%s.txtar, section %d", id, i+1)] = string(f.Data)
		}
	}
	return out
}

// matched are the IDs that match any line of a text.
func matched(c *signature.Catalog, text string) []string {
	var ids []string
	for line := range strings.Lines(text) {
		for _, m := range c.Match(strings.TrimRight(line, "\r\n")) {
			if !slices.Contains(ids, m.Signature.ID) {
				ids = append(ids, m.Signature.ID)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

func TestEverySignatureHasFixturesThatItTellsApart(t *testing.T) {
	c := builtin(t)
	for _, s := range c.All() {
		t.Run(s.ID, func(t *testing.T) {
			match, other := fixtures(t, s.ID, "match"), fixtures(t, s.ID, "other")
			if len(match) < 2 || len(other) < 2 {
				t.Errorf("%d match and %d other sections in testdata/%s.txtar; at least 2 of each prove a signature", len(match), len(other), s.ID)
			}
			for file, text := range match {
				if !slices.Contains(matched(c, text), s.ID) {
					t.Errorf("%s: not matched: %q", file, text)
				}
			}
			for file, text := range other {
				if slices.Contains(matched(c, text), s.ID) {
					t.Errorf("%s: matched, and must not be: %q", file, text)
				}
			}
		})
	}
}

func TestEverySignatureIsValid(t *testing.T) {
	for _, s := range builtin(t).All() {
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkBuiltin(b *testing.B) {
	for b.Loop() {
		if _, err := signature.Builtin(); err != nil {
			b.Fatal(err)
		}
	}
}

// Two signatures that match one line would compete for one cause: one of them has to say
// that it explains the other, or they have to mean the same, or one of them says least of all, and
// gives way to any other, or one of them matches none of the other's lines and so knows its own more specifically.
func TestNoSignatureMatchesTheFixturesOfAnother(t *testing.T) {
	c := builtin(t)
	for _, s := range c.All() {
		for file, text := range fixtures(t, s.ID, "match") {
			for _, id := range matched(c, text) {
				other := c.ByID(id)
				switch {
				case id == s.ID, id == "python-exception", other.LastResort, other.Role == signature.Context:
				case other.DepthOf() == signature.Symptom && s.DepthOf() > signature.Symptom: // gives way to what is deeper
				case s.Role == signature.Context && slices.Contains(s.Hides, id):
				case slices.Contains(s.Hides, id), slices.Contains(other.Hides, s.ID):
				case other.Category == s.Category:
				case !matchesAny(t, c, s.ID, id): // derived: it knows the other's lines, and the other none of its
				default:
					t.Errorf("%s (%s) is matched by %s (%s) too, and neither hides the other: %q", file, s.Category, id, other.Category, text)
				}
			}
		}
	}
}

// matchesAny says that a signature matches a line of another one's examples.
func matchesAny(t *testing.T, c *signature.Catalog, id, other string) bool {
	t.Helper()
	for _, text := range fixtures(t, other, "match") {
		if slices.Contains(matched(c, text), id) {
			return true
		}
	}
	return false
}

func TestEveryCategoryHasASignatureOrARule(t *testing.T) {
	have := map[string]bool{
		// by structure, in package control
		"unschedulable-gpu": true, "unschedulable-cpu-memory": true, "unschedulable-affinity": true,
		"unschedulable-taint": true, "unschedulable-pvc": true, "operator-silent": true,
	}
	for _, s := range builtin(t).All() {
		have[s.Category] = true
	}
	for _, c := range signature.Categories() {
		if !have[c.Slug] {
			t.Errorf("no signature for category %s", c.Slug)
		}
	}
}

func TestFixturesBelongToASignature(t *testing.T) {
	c := builtin(t)
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".txtar"); e.Name() != "fuzz" && (!ok || c.ByID(id) == nil) {
			t.Errorf("testdata/%s: no such signature", e.Name())
		}
	}
}

// An alternative comes with a line that a program printed, and where the program prints it, or not at all.
func TestAlternativesHaveALine(t *testing.T) {
	c := builtin(t)
	for _, s := range c.All() {
		var lines []string
		for _, text := range fixtures(t, s.ID, "match") {
			lines = append(lines, strings.Split(strings.TrimRight(text, "\n"), "\n")...)
		}
		for _, a := range signature.Alternatives(s.Pattern) {
			if re := regexp.MustCompile(a); !slices.ContainsFunc(lines, re.MatchString) {
				t.Errorf("%s: no line in its fixtures for %s", s.ID, a)
			}
		}
	}
}

func TestTextsOfSignaturesNameOnlyFactsThatThePatternHas(t *testing.T) {
	for _, s := range builtin(t).All() {
		for _, text := range []string{s.Title, s.Proves, s.DoesNotProve, s.Remedy} {
			for rest := text; ; {
				_, after, ok := strings.Cut(rest, "{{.")
				if !ok {
					break
				}
				name, tail, _ := strings.Cut(after, "}}")
				name, _, _ = strings.Cut(name, "|")
				if !strings.Contains(s.Pattern, "(?P<"+name+">") {
					t.Errorf("%s: %q names the fact %s, which the pattern has not", s.ID, text, name)
				}
				rest = tail
			}
		}
	}
}
