package policies

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/signalbox-dev/signalbox/preflight/check"
)

// OPA's checker of types takes the arguments of a function and the element of every for anything, and
// object.get for a question that may be asked of any object. So a field that is misspelt there would be
// absent from all inputs, and the rule silent. Each such place is therefore written out once more as a rule
// without closures: the body around it, the body of the function with its arguments bound, the element as a
// reference into its domain; and what the checker says of those rules counts.

// mostPlaces are the places of one rule that are looked at: in calls of calls they multiply.
const mostPlaces = 64

// misspelt are fields that the input does not have, where the compiler does not see it. Files that are built in have none,
// as a test of them says, and are passed over: to look at them takes longer than to compile all. They are looked at where
// another file calls a function of theirs, for that function may be asked about things of several kinds.
func misspelt(compiler *ast.Compiler, builtIn map[string]bool) ast.Errors {
	w := &writer{compiler: compiler, within: map[place]int{}, builtIn: builtIn}
	modules := map[string]*ast.Module{}
	var passedOver []string
	for _, name := range slices.Sorted(maps.Keys(compiler.Modules)) {
		m := compiler.Modules[name]
		modules[name] = m.Copy()
		if builtIn[m.Package.Path.String()] {
			passedOver = append(passedOver, name)
			continue
		}
		w.module(m, modules[name])
	}
	if w.callsBuiltIn {
		for _, name := range passedOver {
			w.module(compiler.Modules[name], modules[name])
		}
	}
	if w.written == 0 {
		return nil
	}
	again := newCompiler().WithStrict(false).SetErrorLimit(0)
	again.Compile(modules)
	failed, said := map[place]int{}, ast.Errors{}
	for _, e := range again.Errors {
		d, invalid := e.Details.(*ast.RefErrInvalidDetail)
		if !invalid || len(d.OneOf) == 0 || e.Location == nil || d.Pos >= len(d.Ref) {
			continue
		}
		at := whereIs(e.Location)
		failed[at]++
		// A function may be asked about things of several kinds: one that has the field is enough.
		if failed[at] == w.within[at] {
			said = append(said, ast.NewError(ast.TypeErr, e.Location, "undefined field: %s%s", strings.Trim(d.Ref[d.Pos].String(), `"`), meant(d)))
		}
	}
	slices.SortFunc(said, func(a, b *ast.Error) int {
		return cmp.Or(cmp.Compare(a.Location.File, b.Location.File), cmp.Compare(a.Location.Row, b.Location.Row), cmp.Compare(a.Location.Col, b.Location.Col))
	})
	return said
}

// meant is which field somebody may mean who wrote one that is not there: one that is a slip of the pen away, or the field
// of that name in another part of the input, input.job.namespace for input.request.namespace.
func meant(d *ast.RefErrInvalidDetail) string {
	if len(d.OneOf) == 0 || d.Pos >= len(d.Ref) {
		return ""
	}
	field := strings.Trim(d.Ref[d.Pos].String(), `"`)
	known := make([]string, 0, len(d.OneOf))
	for _, f := range d.OneOf {
		known = append(known, strings.Trim(f.String(), `"`))
	}
	slices.Sort(known)
	if check.Nearest(field, known, 1) == "" && d.Ref.HasPrefix(ast.InputRootRef) {
		if at := inputField(field); at != "" {
			return fmt.Sprintf("; did you mean %q?", at)
		}
	}
	return check.DidYouMean(field, known).String()
}

// inputField is the field of a name that is nearest to the root of the input, as policies write it; empty: none is called so.
func inputField(name string) string {
	type node struct {
		at     string
		schema map[string]any
	}
	for level := []node{{"input", InputSchema()}}; len(level) > 0; {
		var next []node
		for _, n := range level {
			if items, ok := n.schema["items"].(map[string]any); ok {
				n = node{n.at + "[_]", items}
			}
			properties, _ := n.schema["properties"].(map[string]any)
			if properties[name] != nil {
				return n.at + "." + name
			}
			for _, key := range slices.Sorted(maps.Keys(properties)) {
				if below, ok := properties[key].(map[string]any); ok {
					next = append(next, node{n.at + "." + key, below})
				}
			}
		}
		level = next
	}
	return ""
}

// elsewhere are references to data where neither settings nor policies lie, and no document does: they would
// be undefined for good.
func elsewhere(compiler *ast.Compiler, data map[string]any) (out ast.Errors) {
	known := append(slices.Collect(maps.Keys(data)), "config", "signalbox")
	for _, name := range slices.Sorted(maps.Keys(compiler.Modules)) {
		ast.WalkRefs(compiler.Modules[name], func(r ast.Ref) bool {
			if len(r) < 2 || !r[0].Equal(ast.DefaultRootDocument) {
				return false
			}
			if part := inputBelow(compiler, data, r); part != "" {
				out = append(out, ast.NewError(ast.TypeErr, r[0].Location, "undefined data: data.signalbox.%[1]s; did you mean \"input.%[1]s\"?", part))
				return false
			}
			if root, ok := r[1].Value.(ast.String); ok && !slices.Contains(known, string(root)) {
				slices.Sort(known)
				out = append(out, ast.NewError(ast.TypeErr, r[0].Location, "undefined data: data.%s%s", string(root), check.DidYouMean(string(root), known)))
			}
			return false
		})
	}
	return out
}

// inputBelow is the part of the input that a reference looks for below data.signalbox, where settings and policies lie:
// it would be undefined for good, and the rule silent; empty: it is none, or something of that name is there.
func inputBelow(compiler *ast.Compiler, data map[string]any, r ast.Ref) string {
	if len(r) < 3 || !r[1].Equal(ast.StringTerm("signalbox")) {
		return ""
	}
	part, ok := r[2].Value.(ast.String)
	if !ok || !slices.Contains([]string{"job", "findings", "cluster", "request", "earlier", "object", "old_object", "old_job"}, string(part)) {
		return ""
	}
	for _, root := range []string{"config", "signalbox"} {
		if settings, ok := data[root].(map[string]any); ok && settings[string(part)] != nil {
			return ""
		}
	}
	for _, m := range compiler.Modules {
		if at := m.Package.Path; len(at) > 2 && at[2].Equal(r[2]) {
			return ""
		}
	}
	return string(part)
}

// place is where a term stands in a file.
type place struct {
	file     string
	row, col int
}

func whereIs(l *ast.Location) place { return place{l.File, l.Row, l.Col} }

// writer writes rules for the places that the compiler does not see.
type writer struct {
	compiler *ast.Compiler
	builtIn  map[string]bool // packages
	// callsBuiltIn says that a function of a file that is built in is called by another.
	callsBuiltIn bool
	into         *ast.Module
	within       map[place]int // how many of the rules have a reference of a place in them
	written      int
	renamed      int
	left         int
}

// module writes the rules for the places of a module into a copy of it.
func (w *writer) module(m, into *ast.Module) {
	w.into = into
	for _, r := range m.Rules {
		for ; r != nil; r = r.Else {
			if len(r.Head.Args) == 0 {
				w.left = mostPlaces
				w.look(nil, r.Body)
			}
		}
	}
}

// look writes the rules for the places of a body; around is what binds its variables.
func (w *writer) look(around, body ast.Body) {
	all := slices.Concat(around, body)
	for _, e := range body {
		for _, with := range e.With {
			if target, ok := with.Target.Value.(ast.Ref); ok && target.HasPrefix(ast.InputRootRef) {
				w.write(all, ast.NewBody(ast.NewExpr(with.Target)))
			}
		}
		if e.IsCall() {
			w.call(all, e)
		}
		if every, ok := e.Terms.(*ast.Every); ok {
			w.every(all, every)
		}
		ast.WalkClosures(e, func(x any) bool {
			switch c := x.(type) {
			case *ast.ArrayComprehension:
				w.look(all, c.Body)
			case *ast.SetComprehension:
				w.look(all, c.Body)
			case *ast.ObjectComprehension:
				w.look(all, c.Body)
			}
			return true
		})
	}
}

func (w *writer) every(around ast.Body, e *ast.Every) {
	key := e.Key
	if key == nil {
		w.renamed++
		key = ast.VarTerm(fmt.Sprintf("%severy%d", ast.WildcardPrefix, w.renamed))
	}
	domain, ok := below(e.Domain, key)
	if !ok {
		return
	}
	bound := append(slices.Clone(around), ast.Equality.Expr(e.Value, domain))
	w.write(bound, e.Body)
	w.look(bound, e.Body)
}

// below is a part of what a term is.
func below(t *ast.Term, key *ast.Term) (*ast.Term, bool) {
	switch v := t.Value.(type) {
	case ast.Var:
		return &ast.Term{Value: ast.Ref{t, key}, Location: t.Location}, true
	case ast.Ref:
		return &ast.Term{Value: v.Append(key), Location: t.Location}, true
	}
	return nil, false
}

func (w *writer) call(around ast.Body, e *ast.Expr) {
	operator := e.Operator()
	if operator.String() == ast.ObjectGet.Name {
		w.got(around, e)
		return
	}
	if !operator[0].Equal(ast.DefaultRootDocument) {
		return
	}
	for _, f := range w.compiler.GetRulesExact(operator) {
		for ; f != nil; f = f.Else {
			if len(f.Head.Args) == 0 || len(f.Head.Args) > len(e.Operands()) {
				continue
			}
			w.callsBuiltIn = w.callsBuiltIn || w.builtIn[f.Module.Package.Path.String()]
			args, body := w.rename(f)
			bound := slices.Clone(around)
			for i, a := range args {
				bound = append(bound, ast.Equality.Expr(a, e.Operand(i)))
			}
			if w.write(bound, body) {
				w.look(bound, body)
			}
		}
	}
}

// got is a call of object.get with a key, or a path of them, that is written down.
func (w *writer) got(around ast.Body, e *ast.Expr) {
	at, ok := e.Operand(0), true
	keys := []*ast.Term{e.Operand(1)}
	if path, list := e.Operand(1).Value.(*ast.Array); list {
		keys = keys[:0]
		path.Foreach(func(t *ast.Term) { keys = append(keys, t) })
	}
	for _, key := range keys {
		if _, text := key.Value.(ast.String); !text || !ok {
			return
		}
		at, ok = below(at, key)
	}
	if !ok || len(keys) == 0 {
		return
	}
	asked := at.Copy()
	asked.Location = e.Location
	asked.Value.(ast.Ref)[0].Location = e.Location //nolint:forcetypeassert // below makes nothing else
	w.write(around, ast.NewBody(ast.NewExpr(asked)))
}

// rename is a function with variables of its own.
func (w *writer) rename(f *ast.Rule) ([]*ast.Term, ast.Body) {
	w.renamed++
	own := ast.NewVarVisitor().WithParams(ast.VarVisitorParams{SkipRefCallHead: true})
	own.Walk(f.Head.Args)
	own.Walk(f.Body)
	vars := own.Vars()
	change := func(v ast.Var) (ast.Value, error) {
		if !vars.Contains(v) || ast.RootDocumentNames.Contains(ast.NewTerm(v)) {
			return v, nil
		}
		return ast.Var(fmt.Sprintf("%s_%d", v, w.renamed)), nil
	}
	var args []*ast.Term
	for _, a := range f.Head.Args {
		changed, err := ast.TransformVars(a.Copy().Value, change)
		if v, ok := changed.(ast.Value); ok && err == nil {
			args = append(args, &ast.Term{Value: v, Location: a.Location})
		}
	}
	changed, err := ast.TransformVars(f.Body.Copy(), change)
	body, ok := changed.(ast.Body)
	if err != nil || !ok || len(args) != len(f.Head.Args) {
		return nil, nil
	}
	return args, body
}

// write adds a rule, and counts what it refers to.
func (w *writer) write(around, body ast.Body) bool {
	if w.left == 0 || len(body) == 0 {
		return false
	}
	w.left--
	w.written++
	all := ast.Body{}
	for _, e := range slices.Concat(around, body) {
		one := e.Copy()
		one.Index = len(all)
		all = append(all, one)
	}
	seen := map[place]bool{}
	ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case *ast.Every: // what is in it is not looked at here
			return true
		case ast.Ref:
			if l := x[0].Location; l != nil && !seen[whereIs(l)] && ast.BuiltinMap[x.String()] == nil {
				seen[whereIs(l)] = true
				w.within[whereIs(l)]++
			}
		}
		return false
	}).Walk(all)
	name := fmt.Sprintf("__misspelt_%d", w.written)
	head := ast.NewHead(ast.Var(name), nil, ast.BooleanTerm(true))
	head.Location = body[0].Location
	w.into.Rules = append(w.into.Rules, &ast.Rule{Head: head, Body: all, Module: w.into, Location: body[0].Location})
	return true
}
