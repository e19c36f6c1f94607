package policies

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/signalbox-dev/signalbox/policies/plan"
	"github.com/signalbox-dev/signalbox/preflight"
)

// Located is a source that knows where its files lie. What is wrong with a file is said with that path, not with the name that
// the file has in the source.
type Located interface {
	fs.FS
	Path(name string) string
}

// source is one file of a set.
type source struct {
	name string // in its source
	at   string // as errors name it
	text []byte
}

func sourceIn(fsys fs.FS, name string, text []byte) source {
	at := name
	if l, ok := fsys.(Located); ok {
		at = l.Path(name)
	}
	return source{name, at, text}
}

// broken is an error of a file of rules. The faults that a parser finds name the file themselves.
func (s source) broken(err error) error {
	if _, named := err.(*placedError); named { //nolint:errorlint // one that is wrapped has other words before the name
		return fmt.Errorf("load policy %w", err)
	}
	return fmt.Errorf("load policy %s: %w", s.at, err)
}

func load(ctx context.Context, from []fs.FS) (*set, error) {
	rules, documents, err := collect(from)
	if err != nil {
		return nil, err
	}
	return build(ctx, rules, documents)
}

func build(ctx context.Context, rules, documents []source) (*set, error) {
	data, err := merge(documents)
	if err != nil {
		return nil, err
	}
	modules, wrong := parse(rules)
	if err := reserved(data, modules); err != nil && wrong == nil {
		return nil, err
	}
	own, conftest := split(modules)
	compiler := newCompiler()
	if compiler.Compile(byFile(own)); compiler.Failed() { // said with what is wrong with the files: a fault that shows once another is mended is a round lost
		wrong = errors.Join(wrong, fmt.Errorf("compile policies: %w", short(compiler.Errors, rules)))
	}
	if wrong != nil {
		return nil, wrong
	}
	if wrong := append(elsewhere(compiler, data), misspelt(compiler, builtIn(own))...); len(wrong) > 0 {
		return nil, fmt.Errorf("compile policies: %w", short(wrong, rules))
	}
	out := &set{revision: digest(rules, documents)}
	slices.SortFunc(own, func(a, b module) int { return cmp.Compare(a.doc.Name, b.doc.Name) })
	store := inmem.NewFromObject(data)
	base, err := ast.InterfaceToValue(data)
	if err != nil {
		return nil, fmt.Errorf("load data: %w", err)
	}
	from := compiled{compiler, store, ast.NewTerm(base)}
	// Looking for rules that the data silences may cost as much as it likes only up to here.
	looking, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	for _, m := range own {
		if m.library {
			continue
		}
		prepared, err := prepare(ctx, looking, m, from)
		if err != nil {
			return nil, err
		}
		out.docs, out.rules = append(out.docs, m.doc), append(out.rules, prepared...)
	}
	if err := out.addConftest(ctx, conftest, rules, from); err != nil {
		return nil, err
	}
	for _, r := range out.rules {
		if r.silent {
			continue
		}
		out.asked[r.stage] = append(out.asked[r.stage], r)
		out.stages[r.stage] = append(out.stages[r.stage], r.reads...)
		if r.exempt != nil {
			out.stages[r.stage] = append(out.stages[r.stage], r.exempt.reads...)
		}
	}
	for stage, reads := range out.stages { // a hundred rules read the same few parts
		slices.Sort(reads)
		out.stages[stage] = slices.Compact(reads)
	}
	return out, nil
}

// collect reads the files in a fixed order: source by source, then by path. Manifests are no data. A rule that an
// earlier source has to the letter (a copy of the library, which is built in) is the same rule.
func collect(from []fs.FS) (rules, documents []source, err error) {
	for _, fsys := range from {
		if fsys == nil {
			continue
		}
		before := rules
		err := eachFile(fsys, func(s source) {
			switch {
			case path.Ext(s.name) != ".rego":
				if !isManifest(s.text) {
					documents = append(documents, s)
				}
			case !slices.ContainsFunc(before, func(b source) bool { return bytes.Equal(b.text, s.text) }):
				rules = append(rules, s)
			}
		})
		if err != nil {
			return nil, nil, fmt.Errorf("read policies: %w", err)
		}
	}
	return rules, documents, nil
}

// eachFile reads the rules and the files of data in a folder, but for tests.
func eachFile(fsys fs.FS, take func(source)) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), "..")):
			return fs.SkipDir // "..": how a mounted ConfigMap hides its versions
		case d.IsDir(), strings.HasSuffix(name, "_test.rego"), !slices.Contains([]string{".rego", ".json", ".yaml", ".yml"}, path.Ext(name)):
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err == nil {
			take(sourceIn(fsys, name, text))
		}
		return err
	})
}

// newCompiler makes a compiler that refuses what would make an answer depend on anything
// but the input, and that knows the input's shape: a misspelt field is a load error.
func newCompiler() *ast.Compiler {
	schemas := ast.NewSchemaSet()
	schemas.Put(ast.SchemaRootRef, InputSchema())
	return ast.NewCompiler().
		WithCapabilities(capabilities()).
		WithSchemas(schemas).
		WithUseTypeCheckAnnotations(true).
		WithStrict(true).
		WithEnablePrintStatements(false)
}

// capabilities leaves out everything that reaches outside or answers differently twice:
// network, environment, clock, randomness, and compiling text at run time. Certificates are verified as of now,
// which is a clock; a shift to the left by what a job says makes a number that nothing stops from being made; and some have no end.
func capabilities() *ast.Capabilities {
	boundAnswers()
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(slices.Clone(c.Builtins), func(b *ast.Builtin) bool {
		return b.IsNondeterministic() || strings.HasPrefix(b.Name, "net.") || slices.Contains([]string{
			"http.send", "opa.runtime", "rego.parse_module", "trace", "rand.intn", "uuid.rfc4122", "time.now_ns",
			"crypto.x509.parse_and_verify_certificates", "crypto.x509.parse_and_verify_certificates_with_options", "bits.lsh",
		}, b.Name) || strings.HasPrefix(b.Name, "graphql.") || slices.Contains(unbounded, b.Name)
	})
	c.AllowNet = []string{}
	return c
}

func byFile(modules []module) map[string]*ast.Module {
	out := make(map[string]*ast.Module, len(modules))
	for _, m := range modules {
		out[m.file] = m.ast
	}
	return out
}

// prepare makes the rules of a policy ready to be asked.
func prepare(ctx, looking context.Context, m module, from compiled) (out []*rule, err error) {
	var exempt *rule
	for _, name := range m.rules {
		at := m.ast.Package.Path.Append(ast.StringTerm(name))
		r, err := from.ready(ctx, at)
		if err != nil {
			return nil, fmt.Errorf("prepare %s: %w", m.file, err)
		}
		reads := readsOf(from.compiler, at)
		r.doc, r.name, r.reads, r.silent = &m.doc, name, reads, silent(looking, at, from.compiler, from.store)
		if r.silent {
			r.settings = settingsOf(from.compiler, at)
		}
		if reads.any("findings") || reads.any("cluster.fit") || reads.any("cluster.change") {
			r.stage = preflight.OnTheReview
		}
		if m.doc.Mutes { // it is about findings
			r.stage = preflight.OnTheReview
			out = append(out, r)
			continue
		}
		if name == exempts {
			if !r.silent {
				exempt = r
			}
			continue
		}
		out = append(out, r)
	}
	for _, r := range out {
		if r.exempt = exempt; exempt != nil {
			r.stage = max(r.stage, exempt.stage) // an exception is made where the rule is asked
		}
	}
	return out, nil
}

// compiled are rules and the data that they find.
type compiled struct {
	compiler *ast.Compiler
	store    storage.Store
	data     *ast.Term // what the store holds
}

// ready makes a rule that can be asked: by its plan, and where that has no answer, by OPA.
func (c compiled) ready(ctx context.Context, at ast.Ref) (*rule, error) {
	query, err := c.query(ctx, at)
	if err != nil {
		return nil, err
	}
	out := &rule{at: at, query: query}
	if planned, err := plan.Of(ctx, at, c.compiler, c.store, c.data); err == nil {
		out.plan = planned
	}
	return out, nil
}

// query asks for the value of a rule.
func (c compiled) query(ctx context.Context, at ast.Ref) (rego.PreparedEvalQuery, error) {
	return rego.New(
		rego.ParsedQuery(ast.NewBody(ast.NewExpr(ast.NewTerm(at)))),
		rego.Compiler(c.compiler), rego.Store(c.store), rego.StrictBuiltinErrors(true),
	).PrepareForEval(ctx)
}

// silent says whether a rule has nothing to say whatever the input is, because the data does not
// configure it: evaluated with the input unknown, nothing is left that could be true. False where
// that cannot be told in time.
func silent(ctx context.Context, at ast.Ref, compiler *ast.Compiler, store storage.Store) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	if !inlines(compiler, at) {
		return false
	}
	w := watch(ctx)
	defer w.stop()
	ctx, end := w.guard(ctx)
	defer end()
	element := at.Append(ast.VarTerm("element"))
	prepared, err := rego.New(
		rego.ParsedQuery(ast.NewBody(ast.NewExpr(ast.NewTerm(element)))),
		rego.ParsedUnknowns([]*ast.Term{ast.NewTerm(ast.InputRootRef)}),
		rego.Compiler(compiler), rego.Store(store), rego.StrictBuiltinErrors(true),
	).PrepareForPartial(ctx)
	if err != nil {
		return false
	}
	left, err := prepared.Partial(ctx, everyRule)
	return err == nil && len(left.Queries) == 0
}

// short keeps the first errors of a compilation, without the compiler's own prefix lines. The sources are
// those in which the errors are shown.
func short(errs ast.Errors, in []source) error {
	const most = 5
	var lines, shown []string
	for i, e := range errs {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(errs)-most))
			break
		}
		if at := caret(e.Location, in); at != "" {
			shown = append(shown, at)
		}
		line := e.Message
		if d, ok := e.Details.(*ast.RefErrInvalidDetail); ok {
			line += meant(d)
		}
		if e.Location != nil {
			line = fmt.Sprintf("%s:%d: %s", nameFor(e.Location.File, in), e.Location.Row, line)
		}
		if e.Code == ast.ParseErr && e.Location != nil && e.Details != nil {
			line = fmt.Sprintf("%s:%d:%d: %s", nameFor(e.Location.File, in), e.Location.Row, e.Location.Col, e.Message)
			if shown := e.Details.Lines(); len(shown) > 0 {
				line += ", in: " + strings.TrimSpace(shown[0])
			}
		}
		lines = append(lines, line)
	}
	return &placedError{strings.Join(lines, "; "), shown}
}

// nameFor is how errors name a file that its source names so; of two with one name, the first.
func nameFor(name string, in []source) string {
	if i := slices.IndexFunc(in, func(s source) bool { return s.name == name }); i >= 0 {
		return in[i].at
	}
	return name
}

// placedError is an error in one line, and the places that it is about, each with a caret.
type placedError struct {
	text  string
	shown []string
}

func (e *placedError) Error() string { return e.text }

// Places are the lines of policies that an error is about, each with a caret below the column.
func Places(err error) (out []string) {
	switch e := err.(type) { //nolint:errorlint // the tree is walked here
	case *placedError:
		return e.shown
	case interface{ Unwrap() error }:
		return Places(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			out = append(out, Places(inner)...)
		}
	}
	return out
}

// caret is the line of a place, with a caret below its column; empty: there is no such line.
func caret(at *ast.Location, in []source) string {
	if at == nil || at.Row < 1 || at.Col < 1 {
		return ""
	}
	of := slices.IndexFunc(in, func(s source) bool { return s.name == at.File })
	if of < 0 {
		return ""
	}
	lines := strings.Split(string(in[of].text), "\n")
	if at.Row > len(lines) {
		return ""
	}
	line := strings.TrimRight(lines[at.Row-1], "\r")
	if len(line) > mostShown || at.Col > len(line)+1 {
		return ""
	}
	before := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, line[:at.Col-1])
	where := fmt.Sprintf("  %s:%d | ", in[of].at, at.Row)
	return where + line + "\n" + strings.Repeat(" ", len(where)) + before + "^"
}

// mostShown is how long a line may be that is shown.
const mostShown = 400

func digest(parts ...[]source) string {
	all := slices.Concat(parts...)
	if len(all) == 0 {
		return ""
	}
	slices.SortFunc(all, func(a, b source) int {
		return cmp.Or(cmp.Compare(a.name, b.name), bytes.Compare(a.text, b.text))
	})
	h := sha256.New()
	for _, s := range all {
		h.Write(fmt.Appendf(nil, "%d %s %d ", len(s.name), s.name, len(s.text)))
		h.Write(s.text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))[:16]
}

var _ preflight.Engine = (*OPA)(nil)
