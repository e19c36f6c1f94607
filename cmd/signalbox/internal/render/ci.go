package render

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// splitPlace is the file and the line of "job.yaml:12".
func splitPlace(place string) (file string, line int) {
	i := strings.LastIndexByte(place, ':')
	if i < 0 {
		return place, 0
	}
	n, err := strconv.Atoi(place[i+1:])
	if err != nil {
		return place, 0
	}
	return place[:i], n
}

// renderGitHub writes workflow commands, which GitHub shows beside the lines of a change
// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
func renderGitHub(to io.Writer, jobs []review.Reviewed, troubles []preflight.Trouble) error {
	var b strings.Builder
	for _, j := range jobs {
		for _, f := range j.Lines() {
			text := f.Line()
			if f.Remedy != "" {
				text = endSentence(text) + " " + f.Remedy
			}
			file, line := j.Landing(j.Line(f))
			command(&b, gravity(f.Severity, "notice", "warning", "error"), file, line, j.Job.String()+": "+f.Check, text)
		}
		if review.Waits(j.Report) {
			file, line := j.Landing(j.From.Line)
			command(&b, "notice", file, line, j.Job.String()+": fit", terminal.OneLine(j.Fit.String()))
		}
	}
	for _, t := range troubles {
		file, line := splitPlace(t.Source)
		command(&b, "error", file, line, "unreadable input", t.Message)
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// endSentence is a message with a stop, unless it has one: some end with a question.
func endSentence(text string) string {
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// renderConcise writes a line for each finding, as compilers do: file:line:column: word: message [check]. Editors and
// grep read that (https://www.gnu.org/prep/standards/html_node/Errors.html).
func renderConcise(to io.Writer, jobs []review.Reviewed, troubles []preflight.Trouble) error {
	var b strings.Builder
	line := func(file string, line, column int, word, text, name string) {
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s [%s]\n", words.VisibleLine(file), max(line, 1), max(column, 1), word, words.VisibleLine(terminal.OneLine(text)), name)
	}
	for _, j := range jobs {
		ruled := ruled(j)
		for _, f := range toldAs(j) {
			file, n := j.Landing(j.Line(f.Finding))
			_, column, _ := j.From.Place(f.Path)
			line(file, n, column, ruled(f), f.Message, f.Check)
		}
		if review.Waits(j.Report) {
			file, n := j.Landing(j.From.Line)
			line(file, n, 1, finding.Note.String(), j.Fit.String(), "fit")
		}
	}
	for _, t := range troubles {
		file, n := splitPlace(t.Source)
		line(file, n, 1, finding.Error.String(), t.Message, "unreadable input")
	}
	_, err := io.WriteString(to, b.String())
	return err
}

var (
	inData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func command(b *strings.Builder, word, file string, line int, title, text string) {
	fmt.Fprintf(b, "::%s file=%s,line=%d,title=%s::%s\n", word, inProperty.Replace(words.Visible(filepath.ToSlash(file))), max(line, 1), inProperty.Replace(words.Visible(title)), inData.Replace(words.Visible(text)))
}

// JUnitSuites is a report in the form of JUnit.
type JUnitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []JUnitSuite `xml:"testsuite"`
}

// JUnitSuite is what was asked about one job or policy.
type JUnitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []JUnitCase `xml:"testcase"`
}

// JUnitCase is one question.
type JUnitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *JUnitMessage `xml:"failure"`
	Error   *JUnitMessage `xml:"error"`
	Skipped *JUnitMessage `xml:"skipped"`
	Out     string        `xml:"system-out,omitempty"`
}

// JUnitMessage says why a case failed, or was skipped.
type JUnitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// renderJUnit writes the XML that CI servers read as test results: a suite is a job, a
// case is a finding, a reason why checks did not run, or a clean review. What does not make the exit code another
// than 0 passes: a server would call a run broken that is none.
func renderJUnit(to io.Writer, failOn string, jobs []review.Reviewed, troubles []preflight.Trouble) error {
	all := JUnitSuites{Name: "signalbox"}
	for _, j := range jobs {
		s := JUnitSuite{Name: j.Job.String()}
		for _, f := range j.Lines() {
			c := JUnitCase{Name: f.Check + " " + string(f.Path), Class: j.Job.String()}
			c.File, c.Line = j.Landing(j.Line(f))
			if !review.Fails(j.Report, f, failOn) {
				c.Out = f.Severity.String() + ": " + f.Line() + "\n" + f.Remedy
			} else {
				c.Failure = &JUnitMessage{Message: terminal.OneLine(f.Message), Type: f.Severity.String(), Text: f.Line() + "\n" + f.Remedy}
				s.Failures++
			}
			s.Cases = append(s.Cases, c)
		}
		if len(s.Cases) == 0 {
			c := JUnitCase{Name: "review", Class: j.Job.String()}
			c.File, c.Line = j.Landing(j.From.Line)
			s.Cases = []JUnitCase{c}
		}
		for _, reason := range reasons(j.Skipped) {
			s.Cases = append(s.Cases, JUnitCase{Name: "not checked: " + reason.why, Class: j.Job.String(), Skipped: &JUnitMessage{Message: strings.Join(reason.checks, ", ")}})
			s.Skipped++
		}
		all.Add(s)
	}
	if len(troubles) > 0 {
		s := JUnitSuite{Name: "unreadable input", Errors: len(troubles)}
		for _, t := range troubles {
			s.Cases = append(s.Cases, JUnitCase{Name: t.Source, Class: "unreadable input", Error: &JUnitMessage{Message: t.Message}})
		}
		all.Add(s)
	}
	return WriteJUnit(to, all)
}

// skippedFor are the checks that did not run for one reason.
type skippedFor struct {
	why    string
	checks []string
}

// reasons are the checks that did not run by why, in the order of the first: what a CI server lists is read by people.
func reasons(skipped []preflight.Skip) (out []skippedFor) {
	for _, k := range skipped {
		at := slices.IndexFunc(out, func(r skippedFor) bool { return r.why == k.Reason })
		if at < 0 {
			out, at = append(out, skippedFor{why: k.Reason}), len(out)
		}
		out[at].checks = append(out[at].checks, k.Check)
	}
	return out
}

// WriteJUnit writes a report with its XML header.
func WriteJUnit(to io.Writer, all JUnitSuites) error {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := to.Write(shell.EscapeXML(b.Bytes()))
	return err
}

// Add adds a suite and counts it.
func (a *JUnitSuites) Add(s JUnitSuite) {
	s.Tests = len(s.Cases)
	a.Suites = append(a.Suites, s)
	a.Tests += s.Tests
	a.Failures += s.Failures
	a.Errors += s.Errors
}
