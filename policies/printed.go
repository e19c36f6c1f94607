package policies

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown/print"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// LoadPrinting is Load, and what the policies print goes to a writer, a line each, with file and line.
func LoadPrinting(to io.Writer, sources ...fs.FS) (*OPA, error) {
	rules, documents, err := collect(sources)
	if err != nil {
		return nil, err
	}
	ctx := context.Background() // reads memory; nothing to wait for
	built, err := build(ctx, rules, documents)
	if err != nil {
		return nil, err
	}
	if err := built.print(ctx, "", rules, documents, to); err != nil {
		return nil, err
	}
	o := &OPA{}
	o.current.Store(built)
	return o, nil
}

// print makes the rules of a policy print; empty: of all. They are compiled a second time for it: a set has no print statements, since what
// only they read would count as read by the policy, and an answer must not depend on it.
func (s *set) print(ctx context.Context, policy string, rules, documents []source, to io.Writer) error {
	if !slices.ContainsFunc(rules, func(r source) bool { return bytes.Contains(r.text, []byte("print(")) }) {
		return nil
	}
	data, err := merge(documents)
	if err != nil {
		return err
	}
	store := inmem.NewFromObject(data)
	modules, err := parse(rules)
	if err != nil {
		return err
	}
	own, conftest := split(modules)
	hook := rego.EvalPrintHook(&printer{to: to})
	from := map[bool]compiled{}
	for plain, some := range map[bool][]module{false: own, true: conftest} {
		compiler := ast.NewCompiler().WithCapabilities(capabilities()).WithEnablePrintStatements(true)
		if compiler.Compile(byFile(some)); compiler.Failed() {
			return fmt.Errorf("compile policies: %w", short(compiler.Errors, rules))
		}
		from[plain] = compiled{compiler: compiler, store: store}
	}
	for _, r := range s.rules {
		if policy != "" && r.doc.Name != policy {
			continue
		}
		for _, one := range []*rule{r, r.exempt} {
			if one == nil || len(one.options) > 0 { // the rules of a policy share an exempt
				continue
			}
			if one.query, err = from[one.plain].query(ctx, one.at); err != nil {
				return fmt.Errorf("prepare %s: %w", one.doc.File, err)
			}
			one.options = append(one.options, hook)
		}
	}
	return nil
}

// printer writes what policies print. It implements print.Hook.
type printer struct {
	lock sync.Mutex // jobs may be reviewed side by side
	to   io.Writer
}

// Print implements print.Hook.
func (p *printer) Print(at print.Context, text string) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	where := ""
	if at.Location != nil {
		where = fmt.Sprintf("%s:%d: ", at.Location.File, at.Location.Row)
	}
	_, err := fmt.Fprintf(p.to, "%s%s\n", where, strings.ReplaceAll(redact.Text(text), "\n", "\n  "))
	return err
}
