// Package prompt writes the question to a language model: a template — built in, or the
// operator's own — over what the rules found and the evidence they rest on. Every piece of
// evidence stands in a fence with its ID, so that an answer can cite it.
//
// It asks no model and reads no cluster. Start reading at Of and Template.Render.
package prompt

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

// Bounds of a template. It runs inside the controller, and anybody who may write one ConfigMap
// may write it: it must end soon, in bounded memory, and reach nothing but its data.
const (
	maxSource = 64 << 10       // bytes of a template's text
	maxOutput = 256 << 10      // bytes of one prompt
	maxRounds = 10_000         // rounds of all loops together
	maxSteps  = 10 * maxRounds // nodes of the template that all rounds go through
	maxWork   = 16 * maxOutput // bytes that printing functions are given, whether or not what they make is printed
)

// Data is what a template sees: the fields of scitix/aegis' PromptData, under the same names.
type Data struct {
	Metadata  map[string]any // JobName, JobStatus, WorkerExpected …; see Of
	ErrorInfo string         // what the rules found, with the evidence of job, pods and nodes
	EventInfo string         // events of the cluster
	LogInfo   string         // lines of logs

	Language           string // that an answer is to be in; empty: not said
	Keywords, RawAlert string // for templates written for aegis; always empty
}

// Template is a parsed prompt.
type Template struct {
	Name string // "pytorchjob.tmpl", or "built-in"
	text string
}

// Source is the template as it is written.
func (t *Template) Source() string { return t.text }

// Version tells one text of a template from another: pytorchjob.tmpl@sha256:0a1b2c3d4e5f. What follows is the
// beginning of what sha256sum prints of the file.
func (t *Template) Version() string {
	return fmt.Sprintf("%s@sha256:%.6x", t.Name, sha256.Sum256([]byte(t.text)))
}

// Parse reads a template. Templates may not define or call other templates, so that they
// cannot recurse. The error names the place.
func Parse(name, text string) (*Template, error) {
	if len(text) > maxSource {
		return nil, fmt.Errorf("parse prompt %s: it has %d bytes; at most %d are allowed", name, len(text), maxSource)
	}
	t := &Template{Name: name, text: text}
	_, err := t.compile(&run{})
	return t, err
}

func (t *Template) compile(r *run) (*template.Template, error) {
	parsed, err := template.New(t.Name).Funcs(r.funcs()).Parse(t.text)
	if err != nil {
		return nil, fmt.Errorf("parse prompt %s: %w", t.Name, err)
	}
	if n := len(parsed.Templates()); n > 1 || parsed.Tree == nil && n > 0 {
		return nil, fmt.Errorf("parse prompt %s: it defines other templates; one plain template is expected", t.Name)
	}
	if parsed.Tree == nil || parsed.Root == nil {
		return parsed, nil
	}
	tick, err := template.New("").Funcs(r.funcs()).Parse("{{signalboxRound 1}}")
	if err != nil {
		return nil, fmt.Errorf("parse prompt %s: %w", t.Name, err)
	}
	w := walker{tick: tick.Root.Nodes[0], names: map[string]bool{}}
	w.list(parsed.Root)
	r.names = w.names
	if w.calls {
		return nil, fmt.Errorf("parse prompt %s: it calls other templates; one plain template is expected", t.Name)
	}
	return parsed, nil
}

// Render runs the template. Keys that Metadata lacks print as nothing, those of counts as 0. An error says where the
// template went wrong; there is no output then.
func (t *Template) Render(d Data) (string, error) {
	r := &run{}
	parsed, err := t.compile(r)
	if err != nil {
		return "", err
	}
	d.Metadata = maps.Clone(d.Metadata)
	if d.Metadata == nil {
		d.Metadata = map[string]any{}
	}
	for name := range r.names {
		if _, ok := d.Metadata[name]; ok {
			continue
		}
		d.Metadata[name] = ""
		if counts.MatchString(name) { // of a role that this job does not have: a template compares it
			d.Metadata[name] = 0
		}
	}
	var out bounded
	if err := parsed.Execute(&out, d); err != nil {
		return "", fmt.Errorf("run prompt %s: %w", t.Name, err)
	}
	return out.String(), nil
}

// counts are names of numbers of pods.
var counts = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(?:Expected|CreatedCount)$`)

// bounded is a buffer that refuses more than maxOutput.
type bounded struct{ bytes.Buffer }

var errTooLong = fmt.Errorf("it prints more than %d bytes", maxOutput)

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutput {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}

// run is one execution: what it has cost so far, and the names its template asks for.
type run struct {
	rounds, steps, work int
	names               map[string]bool
}

var (
	errTooManyRounds = fmt.Errorf("its loops go round more than %d times", maxRounds)
	errTooManySteps  = fmt.Errorf("its loops take more than %d steps", maxSteps)
	errTooMuchWork   = fmt.Errorf("it formats more than %d bytes", maxWork)
)

// formats counts what a function is given.
func (r *run) formats(args ...any) error {
	n := size(args...)
	if r.work += n; n > maxOutput {
		return errTooLong
	} else if r.work > maxWork {
		return errTooMuchWork
	}
	return nil
}

// funcs replace the built-in functions that can build a text of any length out of short ones.
func (r *run) funcs() template.FuncMap {
	return template.FuncMap{
		"signalboxRound": func(steps int) (string, error) {
			r.rounds, r.steps = r.rounds+1, r.steps+steps
			switch {
			case r.rounds > maxRounds:
				return "", errTooManyRounds
			case r.steps > maxSteps:
				return "", errTooManySteps
			}
			return "", nil
		},
		"printf": func(format string, args ...any) (string, error) {
			if strings.ContainsAny(format, "*") || longWidth(format) {
				return "", errors.New("printf takes no width above 999 here, and no *")
			}
			if size(args...)*(strings.Count(format, "%")+1)+len(format) > maxOutput {
				return "", errTooLong
			}
			if err := r.formats(append(args, format)...); err != nil {
				return "", err
			}
			return fmt.Sprintf(format, args...), nil
		},
		"print":    r.limit(fmt.Sprint),
		"println":  r.limit(fmt.Sprintln),
		"html":     r.limit(template.HTMLEscaper),
		"js":       r.limit(template.JSEscaper),
		"urlquery": r.limit(template.URLQueryEscaper),
		"call":     func(...any) (string, error) { return "", errors.New("call is not available here") },
	}
}

// limit bounds a printing function; escaping makes at most 12 bytes of one.
func (r *run) limit(f func(...any) string) func(...any) (string, error) {
	return func(args ...any) (string, error) {
		if err := r.formats(args...); err != nil {
			return "", err
		}
		if s := f(args...); len(s) <= maxOutput {
			return s, nil
		}
		return "", errTooLong
	}
}

func size(args ...any) int {
	n := 0
	for _, a := range args {
		switch a := a.(type) {
		case string:
			n += len(a)
		case map[string]any:
			for k, v := range a {
				n += len(k) + size(v)
			}
		case Data:
			n += len(a.ErrorInfo) + len(a.EventInfo) + len(a.LogInfo) + size(a.Metadata)
		default:
			n += 64
		}
	}
	return n
}

func longWidth(format string) bool {
	digits := 0
	for _, c := range format {
		if c < '0' || c > '9' {
			digits = 0
		} else if digits++; digits > 3 {
			return true
		}
	}
	return false
}

// walker puts a tick into every loop, which says how many nodes a round goes through, and collects the names a template may look up.
type walker struct {
	tick  parse.Node
	names map[string]bool
	calls bool
	nodes int // that were met
}

// round is the tick of a loop.
func (w *walker) round(steps int) parse.Node {
	tick := w.tick.Copy().(*parse.ActionNode)
	n := tick.Pipe.Cmds[0].Args[1].(*parse.NumberNode)
	n.Int64, n.Uint64, n.Float64, n.Text = int64(steps), uint64(steps), float64(steps), strconv.Itoa(steps)
	return tick
}

func (w *walker) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		w.node(n)
	}
}

func (w *walker) node(n parse.Node) {
	w.nodes++
	switch n := n.(type) {
	case *parse.RangeNode:
		w.pipe(n.Pipe)
		w.list(n.ElseList)
		before := w.nodes
		w.list(n.List)
		n.List.Nodes = append([]parse.Node{w.round(w.nodes - before)}, n.List.Nodes...)
	case *parse.IfNode:
		w.branch(&n.BranchNode)
	case *parse.WithNode:
		w.branch(&n.BranchNode)
	case *parse.ActionNode:
		w.pipe(n.Pipe)
	case *parse.TemplateNode:
		w.calls = true
	}
}

func (w *walker) branch(b *parse.BranchNode) {
	w.pipe(b.Pipe)
	w.list(b.List)
	w.list(b.ElseList)
}

func (w *walker) pipe(p *parse.PipeNode) {
	if p == nil {
		return
	}
	for _, c := range p.Cmds {
		for _, a := range c.Args {
			w.nodes++
			w.argument(a)
		}
	}
}

func (w *walker) argument(n parse.Node) {
	switch n := n.(type) {
	case *parse.StringNode: // index .Metadata "JobName"
		w.names[n.Text] = true
	case *parse.FieldNode: // .Metadata.JobName
		w.fields(n.Ident)
	case *parse.VariableNode: // $.Metadata.JobName
		w.fields(n.Ident)
	case *parse.ChainNode: // (.Metadata).JobName
		w.fields(n.Field)
		w.argument(n.Node)
	case *parse.PipeNode:
		w.pipe(n)
	}
}

func (w *walker) fields(names []string) {
	for _, name := range names {
		w.names[name] = true
	}
}
