// Package reference is what Signalbox knows by name: checks, kinds, signatures, rules, policies, metrics, words, settings and
// flags, as list and explain print them and as docs/reference has them, and the addresses of runbooks. Start reading at
// NewShelves in list.go.
package reference

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/signatures"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/tuning"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

func checkShelf() Shelf {
	return Shelf{
		Name:    "checks",
		About:   "A check observes one mistake and names its place, both numbers and what to do. It never refuses a job; [policies](policies.md) do. The examples are the fixtures that the tests run.",
		Columns: []string{"name", "severity", "kinds", "needs", "what it says"}, spare: []int{2, 3},
		Entries: func() ([]Entry, error) {
			set, err := tuning.All()
			if err != nil {
				return nil, err
			}
			return each(set.Checks(), func(c *check.Check) Entry {
				return Entry{
					Name: c.Name, Row: []string{c.Name, c.Severity.String(), cmp.Or(strings.Join(c.KindNames(), ", "), "all"), needsText(c.Needs), c.Title},
					page: checkPage(c), text: checkText(c), value: checkValue(c), hint: silence(c.Name),
				}
			}), nil
		},
	}
}

// silence is how a check is made silent: what is the same for all of them stands once in the documentation.
func silence(name string) string {
	return fmt.Sprintf("To silence it for one job, annotate the job with `%s: %s` and `%s: WHY`; everywhere, set `checks.disable: [%[2]s]` in the configuration; for one run, give `--disable %[2]s`.",
		check.IgnoreAnnotation, name, check.ReasonAnnotation)
}

func checkValue(c *check.Check) any {
	return struct {
		Name     string            `json:"name"`
		Title    string            `json:"title"`
		Doc      string            `json:"doc"`
		Severity string            `json:"severity"`
		Kinds    []string          `json:"kinds"` // empty: every kind
		Needs    []string          `json:"needs"`
		Params   []check.Parameter `json:"params,omitempty"`
		Remedy   string            `json:"remedy"`
		Since    string            `json:"since"`
	}{c.Name, c.Title, c.Doc, c.Severity.String(), append([]string{}, c.KindNames()...), needsWords(c.Needs), c.Parameters(), c.Remedy, c.Since}
}

// needsWords are the inputs without which a check is skipped.
func needsWords(n check.Needs) []string {
	out := []string{}
	for _, w := range []struct {
		need check.Needs
		word string
	}{
		{check.Cluster, "a cluster view"},
		{check.Objects, "objects of the cluster"},
		{check.Namespace, "the namespace's labels"},
		{check.Update, "the job before a change"},
	} {
		if n&w.need != 0 {
			out = append(out, w.word)
		}
	}
	return out
}

func needsText(n check.Needs) string {
	return cmp.Or(strings.Join(needsWords(n), ", "), "the job alone")
}

// heading is what a check says, how grave it is, and of which kinds.
func heading(c *check.Check) string {
	of := cmp.Or(strings.Join(c.KindNames(), ", "), "all kinds")
	return fmt.Sprintf("**%s** (%s, %s)\n\n%s\n", c.Title, c.Severity, of, strings.TrimSpace(c.Doc))
}

// checkPage has always the same shape: why, when it fires, when it stays silent, what to
// do, parameters, since when. Its examples are the fixtures of the tests.
func checkPage(c *check.Check) string {
	var b strings.Builder
	b.WriteString(heading(c))
	examples := checks.Examples(c.Name)
	for _, fires := range []bool{true, false} {
		i := slices.IndexFunc(examples, func(e checks.Example) bool { return e.Fires == fires })
		if i >= 0 {
			title := map[bool]string{true: "Fires", false: "Stays silent"}[fires]
			fmt.Fprintf(&b, "\n### %s\n\n%s", title, exampleText(examples[i]))
		}
	}
	b.WriteString(whatToDo(c))
	return b.String()
}

// checkText is the page for a shell, where nobody scrolls past two manifests to the remedy: what to do first, and of the
// example the guilty line below what it stands in.
func checkText(c *check.Check) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n%s\n", heading(c), whatToDo(c), silence(c.Name))
	var shortest checks.Example
	for _, e := range checks.Examples(c.Name) {
		if e.Fires && guiltyLine(e) != "" && (!shortest.Fires || sizeOf(e) < sizeOf(shortest)) {
			shortest = e
		}
	}
	if shortest.Fires {
		fmt.Fprintf(&b, "\n### Fires\n\n%s\n\n```yaml\n%s```\n", shortest.Caption, guiltyLine(shortest))
	}
	fmt.Fprintf(&b, "\nWhole examples, and one where it stays silent: `signalbox explain %s -o md`\n", c.Name)
	return b.String()
}

// whatToDo is the remedy of a check, its parameters, and since when it is there.
func whatToDo(c *check.Check) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### Remedy\n\n%s\n", c.Remedy)
	if params := c.Parameters(); len(params) > 0 {
		b.WriteString("\n### Parameters\n\n")
		for _, p := range params {
			fmt.Fprintf(&b, "- `%s` (%v): %s\n", p.Name, p.Default, p.Doc)
		}
		fmt.Fprintf(&b, "\nSet under `checks.params.%s` in the configuration.\n", c.Name)
	}
	fmt.Fprintf(&b, "\nSince %s. Needs %s.\n", c.Since, needsText(c.Needs))
	return b.String()
}

// guiltyLine is the first line of an example that a finding points at, below the lines that it stands in; empty: it points
// at none.
func guiltyLine(e checks.Example) string {
	for _, f := range e.Files {
		lines := strings.Split(string(f.Data), "\n")
		at := slices.IndexFunc(lines, wanted.MatchString)
		if at < 0 {
			continue
		}
		out := []string{wanted.ReplaceAllString(lines[at], "# ← $1")}
		depth := indentOf(lines[at])
		for _, line := range slices.Backward(lines[:at]) {
			if n := indentOf(line); strings.TrimSpace(line) != "" && n < depth {
				out, depth = append(out, line), n
			}
		}
		slices.Reverse(out)
		return strings.Join(out, "\n") + "\n"
	}
	return ""
}

// sizeOf is how many bytes an example has in all files: the shortest one has least beside the mistake.
func sizeOf(e checks.Example) (n int) {
	for _, f := range e.Files {
		n += len(f.Data)
	}
	return n
}

// indentOf is the column that the first key of a line of YAML stands at: that of a list's item, not of its dash.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " -")) }

// wanted is how fixtures mark the line of a finding.
var wanted = regexp.MustCompile("# want `([^`]*)`")

// exampleText is a fixture as documentation: the caption, then its files.
func exampleText(e checks.Example) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", e.Caption)
	for _, f := range e.Files {
		text := wanted.ReplaceAllString(strings.TrimRight(string(f.Data), "\n"), "# ← $1")
		fmt.Fprintf(&b, "\n`%s`\n```yaml\n%s\n```\n", f.Name, text)
	}
	return b.String()
}

func kindShelf() Shelf {
	return Shelf{
		Name:    "kinds",
		About:   "A kind is a resource of a training operator that Signalbox reads.",
		Columns: []string{"name", "api versions", "resource"},
		Entries: func() ([]Entry, error) {
			return each(kinds.All(), func(k *kinds.Kind) Entry {
				var versions []string
				for _, gvk := range k.GVKs {
					versions = append(versions, gvk.GroupVersion().String())
				}
				slices.Sort(versions)
				versions = slices.Compact(versions)
				return Entry{
					Name: k.Name, Row: []string{k.Name, strings.Join(versions, ", "), k.Resource}, page: k.Doc,
					value: struct {
						Name     string   `json:"name"`
						Versions []string `json:"versions"`
						Resource string   `json:"resource"`
						Doc      string   `json:"doc"`
					}{k.Name, versions, k.Resource, k.Doc},
				}
			}), nil
		},
	}
}

func signatureShelf() Shelf {
	return Shelf{
		Name:    "signatures",
		About:   "A signature is one known failure: what it looks like, what it proves and what it does not.",
		Columns: []string{"name", "category", "role", "owner", "what it says"}, spare: []int{2, 3},
		Entries: func() ([]Entry, error) {
			catalog, err := signatures.Builtin()
			if err != nil {
				return nil, err
			}
			return each(catalog.All(), signatureEntry), nil
		},
	}
}

// signatureEntry is a signature, or a rule, which is written as one.
func signatureEntry(s *signature.Signature) Entry {
	return Entry{Name: s.ID, Row: []string{s.ID, s.Category, string(s.Role), string(s.Domain), s.Title}, page: signaturePage(s) + reasonsOf(s.ID), value: s}
}

func signaturePage(s *signature.Signature) string {
	var b strings.Builder
	again := map[signature.Retry]string{
		signature.Helps: "a retry without changes helps", signature.Useless: "a retry without changes is useless",
	}[s.Retry]
	fmt.Fprintf(&b, "**%s** (category %s, role %s; %s)\n\n", s.Title, s.Category, s.Role, cmp.Or(again, "whether a retry helps is not known"))
	fmt.Fprintf(&b, "Proves: %s\n\nDoes not prove: %s\n\n", terminal.OneLine(named(s.Proves)), terminal.OneLine(named(s.DoesNotProve)))
	if s.Pattern != "" {
		fmt.Fprintf(&b, "```regexp\n%s\n```\n\n", s.Pattern)
	}
	if s.Remedy != "" {
		b.WriteString("Remedy:\n\n")
		for line := range strings.Lines(strings.TrimSpace(s.Remedy)) {
			fmt.Fprintf(&b, "- %s\n", strings.TrimSpace(line))
		}
	}
	for _, r := range s.References {
		fmt.Fprintf(&b, "\nSee %s\n", r)
	}
	fmt.Fprintf(&b, "\nSince %s.\n", s.Since)
	return b.String()
}

// named has the facts of a text by their names, as help has the values of flags: what a diagnosis fills in.
func named(text string) string {
	return fact.ReplaceAllStringFunc(text, func(m string) string { return strings.ToUpper(fact.FindStringSubmatch(m)[1]) })
}

// fact is where a diagnosis puts a fact into a text of a signature.
var fact = regexp.MustCompile(`\{\{ *\.(\w+) *(?:\|[^}]*)?\}\}`)

func policyShelf() Shelf {
	return Shelf{
		Name:    "policies",
		About:   "A policy decides: it warns about a job or refuses it. These come with Signalbox and are silent until data configures them.",
		Columns: []string{"name", "effect", "what it says"},
		Entries: func() ([]Entry, error) {
			set, err := policies.Load(policies.Library())
			if err != nil {
				return nil, err
			}
			return each(set.Docs(), func(d policies.Doc) Entry {
				return Entry{Name: d.Name, Row: []string{d.Name, effect(d), d.Title}, page: policyPage(d), value: d}
			}), nil
		},
	}
}

func effect(d policies.Doc) string {
	switch {
	case d.Mutes:
		return "mutes checks"
	case d.Denies && d.Mode == policies.ModeAlways:
		return "denies everywhere"
	case d.Denies:
		return "denies if enforced, else warns"
	default:
		return "warns"
	}
}

func policyPage(d policies.Doc) string {
	return fmt.Sprintf("**%s** (%s)\n\n%s\n\nRemedy: %s\n\nPackage `%s`.\n", d.Title, effect(d), strings.TrimSpace(d.Description), terminal.OneLine(d.Remedy), d.Package)
}

func metricShelf(metrics func() ([]MetricText, error)) Shelf {
	return Shelf{
		Name:    "metrics",
		About:   "Metrics of `signalbox serve` for Prometheus, at /metrics.",
		Columns: []string{"name", "type", "labels", "meaning"},
		Entries: func() ([]Entry, error) {
			all, err := metrics()
			return each(all, func(m MetricText) Entry {
				return Entry{Name: m.Name, Row: []string{m.Name, m.Type, m.Labels, m.Help}, value: m}
			}), err
		},
	}
}

// MetricText documents one metric.
type MetricText struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Labels string `json:"labels"`
	Help   string `json:"help"`
}
