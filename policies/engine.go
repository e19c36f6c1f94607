// Package policies decides about jobs by Rego: it embeds OPA, prepares every policy once
// and asks them all for each review. It is the only home of OPA.
//
// It observes nothing and parses no manifests: its input is preflight.Input, integers and
// strings that Go has read. A policy that fails is named as undecided and never denies.
//
// Start reading at OPA.Decide; Load says what a policy must look like.
package policies

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// OPA is a set of policies that can be replaced while others decide. Safe for concurrent
// use. It implements preflight.Engine.
type OPA struct{ current atomic.Pointer[set] }

// set is one immutable choice of policies; by name.
type set struct {
	policies []*policy
	revision string
}

// policy is one package, ready to be asked.
type policy struct {
	doc        Doc
	deny, warn *rego.PreparedEvalQuery // nil: it has no such rule
}

// Load reads policies (*.rego) and their data (*.json, *.yaml, *.yml) from all file
// systems into one set. Tests (*_test.rego) and folders called testdata are left out.
// Everything must be right: the error names every file that is not, and why.
func Load(sources ...fs.FS) (*OPA, error) {
	o := &OPA{}
	if err := o.Swap(sources...); err != nil {
		return nil, err
	}
	return o, nil
}

// Swap replaces all policies at once. On an error the set that was there stays.
func (o *OPA) Swap(sources ...fs.FS) error {
	next, err := load(context.Background(), sources) // reads memory; nothing to wait for
	if err != nil {
		return err
	}
	o.current.Store(next)
	return nil
}

// Revision is a digest of all sources and data: the same texts give the same revision.
func (o *OPA) Revision() string { return o.set().revision }

// Docs describes the policies by name.
func (o *OPA) Docs() []Doc {
	out := []Doc{}
	for _, p := range o.set().policies {
		out = append(out, p.doc)
	}
	return out
}

func (o *OPA) set() *set {
	if s := o.current.Load(); s != nil {
		return s
	}
	return &set{}
}

// Decide asks every policy. A policy that fails, answers in another form, or is not
// reached before the context ends is undecided, and the others still count. The error is
// about the input only.
func (o *OPA) Decide(ctx context.Context, in preflight.Input) (preflight.Ruled, error) {
	s := o.set()
	var out preflight.Ruled
	if len(s.policies) == 0 || in.Request.Mode == preflight.ModeOff {
		return out, nil
	}
	input, err := ast.InterfaceToValue(in)
	if err != nil {
		return out, fmt.Errorf("write policy input for %s %s/%s: %w", in.Job.Kind, in.Job.Namespace, in.Job.Name, err)
	}
	for _, p := range s.policies {
		rulings, err := p.ask(ctx, input, in.Request.Mode)
		if err != nil {
			out.Undecided = append(out.Undecided, p.doc.Name+": "+reason(err))
			continue
		}
		out.Rulings = append(out.Rulings, rulings...)
	}
	slices.SortFunc(out.Rulings, func(a, b preflight.Ruling) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Effect, b.Effect))
	})
	out.Rulings = slices.Compact(out.Rulings)
	return out, nil
}

// ask is all or nothing: half an answer of a failing policy would look like a whole one.
func (p *policy) ask(ctx context.Context, input ast.Value, mode string) (out []preflight.Ruling, err error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("deadline passed before it was asked")
	}
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("panic: %v", r)
		}
	}()
	denial := preflight.Warn
	if mode == preflight.ModeEnforce || p.doc.Mode == ModeAlways {
		denial = preflight.Deny
	}
	for _, rule := range []struct {
		name   string
		query  *rego.PreparedEvalQuery
		effect preflight.Effect
	}{{"deny", p.deny, denial}, {"warn", p.warn, preflight.Warn}} {
		if rule.query == nil {
			continue
		}
		results, err := rule.query.Eval(ctx, rego.EvalParsedInput(input))
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			for _, e := range r.Expressions {
				rulings, err := p.rulings(e.Value, rule.effect)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", rule.name, err)
				}
				out = append(out, rulings...)
			}
		}
	}
	return out, nil
}

// longestMessage bounds what one ruling may say, in runes: the API server passes a denial
// on whole, and a terminal should still show it.
const longestMessage = 1000

// rulings reads the elements of a deny or warn set.
func (p *policy) rulings(value any, effect preflight.Effect) ([]preflight.Ruling, error) {
	elements, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("answers %T; want a set of {\"path\", \"msg\"}", value)
	}
	var out []preflight.Ruling
	for _, e := range elements {
		object, ok := e.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("holds %v; want {\"path\", \"msg\"}", e)
		}
		msg, ok := object["msg"].(string)
		if !ok || strings.TrimSpace(msg) == "" {
			return nil, fmt.Errorf("holds an element whose msg is %v; want a text", object["msg"])
		}
		path, ok := object["path"].(string)
		if !ok {
			return nil, fmt.Errorf("holds an element whose path is %v; want a text", object["path"])
		}
		out = append(out, preflight.Ruling{
			Policy: p.doc.Name, Effect: effect, Message: clip(msg), Path: job.Path(path), Remedy: p.doc.Remedy,
		})
	}
	return out, nil
}

func clip(s string) string {
	if utf8.RuneCountInString(s) <= longestMessage {
		return s
	}
	return string([]rune(s)[:longestMessage-1]) + "…"
}

// reason is an error of OPA in one line.
func reason(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
