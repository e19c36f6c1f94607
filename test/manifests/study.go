package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// wouldFail is the severity of a label that says: this cannot run.
const wouldFail = "would-fail"

// leastPrecision is how many of the findings about what cannot run must be right.
const leastPrecision = 0.95

// label is one known mistake of a manifest.
type label struct{ issue, severity string }

// hit is one finding.
type hit struct {
	file, check, line string
	severity          finding.Severity
}

// reason says why a check is right about a manifest although no label says so.
type reason struct {
	Manifests []string `json:"manifests"` // file names
	Check     string   `json:"check"`
	Reason    string   `json:"reason"`
}

// study is everything that was found and everything that is known.
type study struct {
	labels    map[string][]label  // by file
	supports  map[string][]string // issues by check
	explained []reason
	used      map[[2]string]bool // entries of explained, by their number, and manifests for which a finding needed them

	files, jobs int
	uncovered   int             // documents of kinds that no reader covers
	foreign     int             // documents that are no Kubernetes objects
	covered     map[string]bool // files with a job that was reviewed
	hits        []hit
	troubles    []string // panics and unreadable documents
	took        time.Duration
}

func newStudy(labels, ours string) (*study, error) {
	s := &study{used: map[[2]string]bool{}, covered: map[string]bool{}}
	f, err := os.Open(labels)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if s.labels, err = readLabels(f); err != nil {
		return nil, fmt.Errorf("read %s: %w", labels, err)
	}
	if err := readOwn(filepath.Join(ours, "labels.yaml"), &s.supports); err != nil {
		return nil, err
	}
	return s, readOwn(filepath.Join(ours, "explained.yaml"), &s.explained)
}

func readOwn(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return nil
}

// readLabels reads columns file, issue, evidence, severity, confidence. Labels of low
// confidence count for recall and support like the others.
func readLabels(from io.Reader) (map[string][]label, error) {
	r := csv.NewReader(from)
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	out := map[string][]label{}
	for i, row := range rows {
		if len(row) < 5 {
			return nil, fmt.Errorf("line %d has %d columns; expected 5", i+1, len(row))
		}
		if i > 0 {
			out[row[0]] = append(out[row[0]], label{issue: row[1], severity: row[3]})
		}
	}
	return out, nil
}

// proofread refuses names in our own files that no check has.
func (s *study) proofread(names []string) error {
	names = append(slices.Clone(names), "unreadable-field", "ignore-annotation", "namespace-mode")
	for _, name := range slices.Sorted(maps.Keys(s.supports)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("labels.yaml: no check is called %q%s", name, check.DidYouMean(name, names))
		}
	}
	for _, e := range s.explained {
		if !slices.Contains(names, e.Check) {
			return fmt.Errorf("explained.yaml: no check is called %q%s", e.Check, check.DidYouMean(e.Check, names))
		}
		if len(strings.Fields(e.Reason)) < 3 {
			return fmt.Errorf("explained.yaml: %s on %s: the reason is %q; expected a sentence", e.Check, strings.Join(e.Manifests, ", "), e.Reason)
		}
		if len(e.Manifests) == 0 {
			return fmt.Errorf("explained.yaml: %s on nothing: name the manifests that were read", e.Check)
		}
	}
	return nil
}

// standing is what speaks for a finding.
type standing int

const (
	beyond   standing = iota // nothing: to be read by hand
	byReason                 // read by hand and right
	byLabel                  // a label of the manifest supports the check
)

// of is what speaks for a check's findings on a file.
func (s *study) of(file, name string) standing {
	for _, l := range s.labels[file] {
		if slices.Contains(s.supports[name], l.issue) {
			return byLabel
		}
	}
	for i, e := range s.explained {
		if e.Check == name && slices.Contains(e.Manifests, file) {
			s.used[[2]string{strconv.Itoa(i), file}] = true
			return byReason
		}
	}
	return beyond
}

// pair is a check and a file it speaks about, however often: what precision counts.
type pair struct {
	file, check string
	severity    finding.Severity // the gravest
	standing    standing
	line        string
}

func (s *study) pairs() []pair {
	seen := map[[2]string]int{}
	var out []pair
	for _, h := range s.hits {
		key := [2]string{h.file, h.check}
		i, ok := seen[key]
		if !ok {
			i = len(out)
			seen[key] = i
			out = append(out, pair{file: h.file, check: h.check, standing: s.of(h.file, h.check), severity: h.severity, line: h.line})
		}
		if h.severity > out[i].severity {
			out[i].severity, out[i].line = h.severity, h.line
		}
	}
	slices.SortFunc(out, func(a, b pair) int { return cmp.Or(cmp.Compare(a.check, b.check), cmp.Compare(a.file, b.file)) })
	return out
}

// claims says whether a pair says that the job cannot run: by its severity, or because the
// labels that support the check do.
func (s *study) claims(p pair) bool {
	if p.severity == finding.Error {
		return true
	}
	for _, l := range s.labels[p.file] {
		if l.severity == wouldFail && slices.Contains(s.supports[p.check], l.issue) {
			return true
		}
	}
	return false
}

// score counts pairs by what speaks for them.
type score struct{ hits, labelled, explained, findings, known, found int }

func (c score) right() int { return c.labelled + c.explained }

// precision is the share of hits that are right; 1 where there is none.
func (c score) precision() float64 { return share(c.right(), c.hits) }
func (c score) recall() float64    { return share(c.found, c.known) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

func (c *score) add(p pair) {
	c.hits++
	switch p.standing {
	case byLabel:
		c.labelled++
	case byReason:
		c.explained++
	case beyond:
	}
}

// byCheck are the scores of all checks that have a label or a hit.
func (s *study) byCheck() (map[string]*score, score) {
	out, failing := map[string]*score{}, score{}
	of := func(name string) *score {
		if out[name] == nil {
			out[name] = &score{}
		}
		return out[name]
	}
	hit := map[[2]string]bool{}
	for _, p := range s.pairs() {
		of(p.check).add(p)
		hit[[2]string{p.file, p.check}] = true
		if s.claims(p) {
			failing.add(p)
		}
	}
	for _, h := range s.hits {
		of(h.check).findings++
	}
	for file, labels := range s.labels {
		if !s.covered[file] {
			continue
		}
		for name, issues := range s.supports {
			if !slices.ContainsFunc(labels, func(l label) bool { return slices.Contains(issues, l.issue) }) {
				continue
			}
			of(name).known++
			if hit[[2]string{file, name}] {
				of(name).found++
			}
		}
		for _, l := range labels {
			if l.severity != wouldFail {
				continue
			}
			failing.known++
			if s.sees(file, l.issue, hit) {
				failing.found++
			}
		}
	}
	return out, failing
}

// sees says whether any check that the issue supports spoke about the file.
func (s *study) sees(file, issue string, hit map[[2]string]bool) bool {
	for name, issues := range s.supports {
		if slices.Contains(issues, issue) && hit[[2]string{file, name}] {
			return true
		}
	}
	return false
}

// print writes the table: per check, then the sums.
func (s *study) print(to io.Writer) {
	scores, failing := s.byCheck()
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "check\tmanifests\tby label\tby reading\tunread\tprecision\tlabels\tfound\trecall\t")
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		c := scores[name]
		recall := "-"
		if c.known > 0 {
			recall = percent(c.recall())
		}
		precision := "-"
		if c.hits > 0 {
			precision = percent(c.precision())
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%s\t%d\t%d\t%s\t\n", name, c.hits, c.labelled, c.explained, c.hits-c.right(), precision, c.known, c.found, recall)
	}
	_ = w.Flush() // a table on a terminal
	var by [finding.Error + 1]int
	for _, h := range s.hits {
		by[h.severity]++
	}
	fmt.Fprintf(to, "\n%d manifests, %d jobs reviewed in %s, %d objects of kinds that no reader covers, %d documents that are no objects\n",
		s.files, s.jobs, s.took.Round(time.Millisecond), s.uncovered, s.foreign)
	fmt.Fprintf(to, "%d findings (%d errors, %d warnings, %d notes): %.2f per manifest\n",
		len(s.hits), by[finding.Error], by[finding.Warning], by[finding.Note], float64(len(s.hits))/float64(max(1, len(s.covered))))
	fmt.Fprintf(to, "what cannot run: precision %s (%d by label, %d by reading, of %d), recall %s (%d of %d labels)\n",
		percent(failing.precision()), failing.labelled, failing.explained, failing.hits, percent(failing.recall()), failing.found, failing.known)
}

func percent(f float64) string { return fmt.Sprintf("%.1f %%", 100*f) }

// judge is what must not be: see the package comment.
func (s *study) judge() (complaints []string) {
	complaints = append(complaints, s.troubles...)
	_, failing := s.byCheck()
	for _, p := range s.pairs() {
		if p.severity == finding.Error && p.standing == beyond {
			complaints = append(complaints, fmt.Sprintf("%s: an error that no label supports: %s", p.file, p.line))
		}
	}
	if failing.precision() < leastPrecision {
		complaints = append(complaints, fmt.Sprintf("what cannot run: precision is %s; expected %s at least", percent(failing.precision()), percent(leastPrecision)))
	}
	for i, e := range s.explained {
		for _, file := range e.Manifests {
			if !s.used[[2]string{strconv.Itoa(i), file}] {
				complaints = append(complaints, fmt.Sprintf("explained.yaml: %s says nothing about %s any more, or a label does: remove it there", e.Check, file))
			}
		}
	}
	return complaints
}

// missed are the labels of reviewed manifests that say "this cannot run" and that no check
// spoke about, by file.
func (s *study) missed() []string {
	hit := map[[2]string]bool{}
	for _, h := range s.hits {
		hit[[2]string{h.file, h.check}] = true
	}
	var out []string
	for _, file := range slices.Sorted(maps.Keys(s.labels)) {
		for _, l := range s.labels[file] {
			if s.covered[file] && l.severity == wouldFail && !s.sees(file, l.issue, hit) {
				out = append(out, file+": "+l.issue)
			}
		}
	}
	return out
}

// tell prints findings with the labels of their manifests; what nothing speaks for comes
// with a question mark.
func (s *study) tell(to io.Writer, only string) {
	marks := map[standing]string{beyond: "?", byReason: "·", byLabel: "✓"}
	for _, h := range s.hits {
		if only != "" && h.check != only {
			continue
		}
		var issues []string
		for _, l := range s.labels[h.file] {
			issues = append(issues, l.issue)
		}
		fmt.Fprintf(to, "%s %s: %s %s   {%s}\n", marks[s.of(h.file, h.check)], h.file, h.severity, h.line, strings.Join(issues, " "))
	}
	if only == "" {
		for _, m := range s.missed() {
			fmt.Fprintln(to, "missed "+m)
		}
	}
}
