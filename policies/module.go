package policies

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/signalbox-dev/signalbox/preflight/check"
)

// Doc is what a policy says about itself in its METADATA.
type Doc struct {
	Name        string `json:"name"`    // the package without signalbox., dashes for underscores: runtime-not-allowed
	Package     string `json:"package"` // signalbox.runtime_not_allowed
	Title       string `json:"title"`
	Description string `json:"description"`
	Remedy      string `json:"remedy"`
	Mode        string `json:"mode,omitempty"`    // ModeAlways, or empty: what the namespace says
	Failure     string `json:"failure,omitempty"` // FailureClosed, or empty: open
	File        string `json:"file"`
	Exempts     bool   `json:"exempts,omitempty"`
	Mutes       bool   `json:"mutes,omitempty"` // it takes back findings of checks, and has exempt alone
	Denies      bool   `json:"denies"`
	Warns       bool   `json:"warns"`
}

// ModeAlways in METADATA custom.mode makes denials hold in every namespace that is not
// switched off, not only in enforcing ones.
const ModeAlways = "always"

// FailureClosed in METADATA custom.failure makes a policy that could not be evaluated deny,
// wherever its denials hold. Without it, it is named as undecided, and the job passes.
const FailureClosed = "closed"

// module is one parsed file.
type module struct {
	file    string // names it in the set
	at      string // names it in errors
	ast     *ast.Module
	doc     Doc
	rules   []string // deny, warn
	library bool     // signalbox.lib.*: shared rules, no policy
	builtIn bool     // comes with the project, word for word
	// conftest says that the file is in Conftest's form: package main, rules about the object as it
	// was written. Such files share their packages, and see no others.
	conftest bool
}

var policyName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// parse reads the files and holds each to the form that a policy has. A file with a fault in its words is among the modules
// all the same, so that what its rules get wrong can be said with it.
func parse(rules []source) ([]module, error) {
	var out []module
	var errs []error
	seen := map[string]source{} // by package
	for _, s := range rules {
		m, err := parseOne(s)
		if err != nil {
			for _, fault := range faults(err) {
				errs = append(errs, s.broken(fault))
			}
			if m.doc.Name == "" {
				continue
			}
		}
		if other, taken := seen[m.doc.Package]; taken && !m.conftest {
			holder := other.at
			if libraryTexts()[string(other.text)] {
				holder += ", which is built in,"
			}
			errs = append(errs, s.broken(fmt.Errorf("package %s is in %s already; a package is one file", m.doc.Package, holder)))
			continue
		}
		seen[m.doc.Package] = s
		m.file, m.at, m.builtIn = unique(out, s.name), s.at, libraryTexts()[string(s.text)]
		out = append(out, m)
	}
	return out, errors.Join(errs...)
}

// unique keeps the files of two sources with one name apart.
func unique(have []module, name string) string {
	for n, file := 2, name; ; n++ {
		if !slices.ContainsFunc(have, func(m module) bool { return m.file == file }) {
			return file
		}
		file = fmt.Sprintf("%s (%d)", name, n)
	}
}

func parseOne(s source) (module, error) {
	parsed, err := parseModule(s)
	if err != nil {
		return module{}, err
	}
	if parsed == nil {
		return module{}, errors.New("it is empty; want a package signalbox.<name> with deny or warn")
	}
	m := module{ast: parsed}
	name := strings.TrimPrefix(parsed.Package.Path.String(), "data.")
	m.doc = Doc{Package: name, File: s.name}
	if inConftestForm(parsed) {
		return m.asConftest()
	}
	if at := schemaIn(parsed); at != nil {
		return module{}, fmt.Errorf("line %d: METADATA brings a schema; the shape of the input is known, and what a schema refers to may be a file of this machine", at.Row)
	}
	if strings.HasPrefix(name, "signalbox.lib.") {
		m.library = true
		return m, nil
	}
	short, ok := strings.CutPrefix(name, "signalbox.")
	if !ok || !policyName.MatchString(short) {
		return module{}, fmt.Errorf("the package is %s; want signalbox.<name> with a name of lower-case words joined by underscores", name)
	}
	m.doc.Name = strings.ReplaceAll(short, "_", "-")
	m.rules, err = heads(parsed)
	m.doc.Denies, m.doc.Warns = slices.Contains(m.rules, denies), slices.Contains(m.rules, warns)
	m.doc.Exempts = slices.Contains(m.rules, exempts)
	m.doc.Mutes = m.doc.Exempts && len(m.rules) == 1
	return m, errors.Join(err, m.metadata())
}

// schemaIn is where a file says what the shape of something is; nil: nowhere. The compiler follows the references of such a
// schema, also to files (github.com/open-policy-agent/opa internal/gojsonschema, LoadJSON).
func schemaIn(m *ast.Module) *ast.Location {
	for _, a := range m.Annotations {
		if len(a.Schemas) > 0 {
			return a.Location
		}
	}
	return nil
}

// faults takes apart what a file was told at once, so that each fault can be said with the file's name.
func faults(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, one := range all.Unwrap() {
			out = append(out, faults(one)...)
		}
		return out
	}
	return []error{err}
}

// heads holds deny and warn to their form and says which of them there are.
func heads(m *ast.Module) ([]string, error) {
	var found, others []string
	mutes := false
	for _, r := range m.Rules {
		name := r.Head.Ref()[0].String()
		if name != denies && name != warns && name != exempts {
			others = append(others, name)
			continue
		}
		if r.Head.RuleKind() != ast.MultiValue || len(r.Head.Ref()) != 1 {
			return nil, fmt.Errorf(`line %d: %s is not a set, so it would decide nothing; write: %s contains {"path": …, "msg": …} if { … }`, r.Location.Row, name, name)
		}
		if err := element(r.Head.Key, name); err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", r.Location.Row, name, err)
		}
		found = append(found, name)
		object, written := r.Head.Key.Value.(ast.Object)
		mutes = mutes || name == exempts && written && object.Get(ast.StringTerm("check")) != nil
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) == 0 || len(found) == 1 && found[0] == exempts && !mutes {
		others = append(found, others...)
		has := "no rule at all"
		if len(others) > 0 {
			has = "only " + strings.Join(slices.Compact(others), ", ")
		}
		return nil, fmt.Errorf(`it has neither deny nor warn, so it decides nothing (it has %s); write: deny contains {"path": …, "msg": …} if { … }`, has)
	}
	return found, nil
}

// element catches what is no {"path", "msg"} where that can be seen without running it.
func element(key *ast.Term, rule string) error {
	switch v := key.Value.(type) {
	case ast.Object:
		for _, want := range []string{"msg", "path"} {
			if v.Get(ast.StringTerm(want)) == nil && (want == "msg" || rule != exempts) {
				return fmt.Errorf(`the element %s has no %q; want {"path": …, "msg": …}`, key, want)
			}
		}
		return nil
	case ast.Var, ast.Ref, ast.Call, ast.String:
		return nil
	default:
		return fmt.Errorf(`the element is %s; want {"path": …, "msg": …}`, key)
	}
}

// metadata reads the annotations of the package into the doc. All that is wrong with them is said at once.
func (m *module) metadata() error {
	found, err := m.annotated()
	if found == nil {
		return errors.Join(err, fmt.Errorf("line %d: no # METADATA above the package; want title, description and custom.remedy", m.ast.Package.Location.Row))
	}
	var lacks []string
	for _, part := range []struct{ name, value string }{
		{"title", m.doc.Title}, {"description", m.doc.Description}, {"custom.remedy", m.doc.Remedy},
	} {
		if part.value == "" {
			lacks = append(lacks, part.name)
		}
	}
	if len(lacks) > 0 {
		err = errors.Join(err, fmt.Errorf("line %d: METADATA without %s; want title, description and custom.remedy", found.Location.Row, strings.Join(lacks, ", ")))
	}
	return err
}

// customs are what METADATA custom says of a policy, with the words for it. A remedy has words of its own.
var customs = map[string][]string{"remedy": nil, "failure": {"open", FailureClosed}, "mode": {ModeAlways}}

// annotated reads the annotations of the package into the doc, as far as there are any. A word that stands where
// it is not looked for is an error: a policy whose author writes that it is closed on failure must not be open.
func (m *module) annotated() (found *ast.Annotations, err error) {
	var errs []error
	for _, a := range m.ast.Annotations {
		errs = append(errs, misplaced(a)...)
		if a.Scope == "package" {
			found = a
		}
	}
	if found == nil {
		return nil, errors.Join(errs...)
	}
	of := func(key string) string {
		text, _ := found.Custom[key].(string)
		return strings.TrimSpace(text)
	}
	m.doc.Title, m.doc.Description, m.doc.Remedy = cmp.Or(strings.TrimSpace(found.Title), m.doc.Title), strings.TrimSpace(found.Description), of("remedy")
	if m.doc.Mode = of("mode"); of("failure") == FailureClosed {
		m.doc.Failure = FailureClosed
	}
	return found, errors.Join(errs...)
}

// misplaced is every word of an annotation that stands where it is not looked for, or says what is none of its values.
func misplaced(a *ast.Annotations) (errs []error) {
	for line := range strings.SplitSeq(string(a.Location.Text), "\n") {
		if key, _, _ := strings.Cut(strings.TrimPrefix(line, "# "), ":"); customs[key] != nil || key == "remedy" {
			errs = append(errs, fmt.Errorf("line %d: METADATA %s stands beside custom; want custom: {%[2]s: …}", a.Location.Row, key))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(a.Custom)) {
		value, _ := a.Custom[key].(string)
		meant := check.Nearest(key, slices.Sorted(maps.Keys(customs)), 2)
		switch {
		case a.Scope != "package" && customs[key] != nil:
			errs = append(errs, fmt.Errorf("line %d: METADATA custom.%s is that of a %s; a policy has one, above its package", a.Location.Row, key, a.Scope))
		case customs[key] != nil && !slices.Contains(customs[key], value):
			errs = append(errs, fmt.Errorf("line %d: METADATA custom.%s is %v; want %s", a.Location.Row, key, a.Custom[key], strings.Join(customs[key], " or ")))
		case meant != "" && slices.Contains(customs[meant], value):
			errs = append(errs, fmt.Errorf("line %d: METADATA custom.%s is none of the fields of a policy; did you mean %q?", a.Location.Row, key, meant))
		}
	}
	return errs
}
