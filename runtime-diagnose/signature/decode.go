package signature

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

var slugForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Decode reads one signature from YAML. Unknown fields are errors: a misspelt "hides"
// must not silently do nothing.
func Decode(data []byte) (*Signature, error) {
	s, err := decode(data)
	if err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return s, nil
}

func decode(data []byte) (*Signature, error) {
	var s Signature
	if err := yaml.UnmarshalStrict(data, &s); err != nil {
		return nil, fmt.Errorf("decode signature: %w", err)
	}
	return &s, nil
}

// Validate reports everything that is wrong with a signature, joined.
func (s *Signature) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("signature %q: "+format, append([]any{s.ID}, args...)...))
	}
	if !slugForm.MatchString(s.ID) {
		bad("id must be lower-case words joined by dashes")
	}
	for name, text := range map[string]string{"title": s.Title, "since": s.Since, "proves": s.Proves, "doesNotProve": s.DoesNotProve} {
		if strings.TrimSpace(text) == "" {
			bad("%s is empty", name)
		}
	}
	if _, ok := CategoryOf(s.Category); !ok && (s.Category != HealthyCategory || s.Role != Context) {
		bad("category %q is none of the known ones, which signalbox list categories shows", s.Category)
	}
	if !slices.Contains([]Role{Root, Cascade, Confirmation, Context}, s.Role) {
		bad("role %q is not root, cascade, confirmation or context", s.Role)
	}
	if !slices.Contains([]Domain{User, Platform, Hardware, Network, Storage, Nobody}, s.Domain) {
		bad("domain %q is not user, platform, hardware, network, storage or unknown", s.Domain)
	}
	if !slices.Contains([]Retry{Helps, Useless, RetryUnknown}, s.Retry) {
		bad("retry %q is not helps, useless or unknown", s.Retry)
	}
	if s.Depth < 0 || s.Depth > Precise {
		bad("depth is %d; it goes from 1 to %d", s.Depth, Precise)
	}
	if s.Says != "" && !slices.Contains([]Says{OfItself, Waited, PeerLost, ToldToStop}, s.Says) {
		bad("says %q is not of-itself, waited, peer-lost or told-to-stop", s.Says)
	}
	s.validateText(bad)
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func (s *Signature) validateText(bad func(string, ...any)) {
	if len(s.Kinds) == 0 {
		bad("kinds is empty")
	}
	for _, k := range s.Kinds {
		if !slices.Contains([]Kind{Log, Event, Status, Exit, Node, Metric, Frame}, k) {
			bad("kind %q is not log, event, status, exit, node, metric or frame", k)
		}
	}
	var re *regexp.Regexp
	var err error
	large := tooLarge(s.Pattern)
	if large == "" {
		re, err = regexp.Compile(s.Pattern)
	}
	switch {
	case large != "":
		bad("%s", large)
	case err != nil:
		bad("pattern: %v", err)
	case s.Pattern == "":
		bad("pattern is empty")
	case re.MatchString(""):
		bad("pattern matches the empty line")
	default:
		if _, err := literalsOf(s.Pattern); err != nil {
			bad("%v", err)
		}
	}
	if s.Role == Root && strings.TrimSpace(s.Remedy) == "" {
		bad("remedy is empty")
	}
}

// Bounds of a pattern, which stands in memory for as long as the program runs, and is tried on lines of logs that others write. The
// largest that ship with the program have a quarter of each.
const (
	mostPattern = 8 << 10 // bytes
	mostProgram = 10_000  // instructions of the compiled expression
)

// tooLarge says why a pattern is not even compiled; empty: it may be.
func tooLarge(pattern string) string {
	if n := len(pattern); n > mostPattern {
		return fmt.Sprintf("pattern has %d bytes; at most %d are allowed, and several signatures may be of one category", n, mostPattern)
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "" // which is said where it is compiled
	}
	prog, err := syntax.Compile(re.Simplify())
	if err == nil && len(prog.Inst) > mostProgram {
		return fmt.Sprintf("pattern makes an expression of %d instructions; at most %d are allowed: a repetition counts as often as it may repeat", len(prog.Inst), mostProgram)
	}
	return ""
}

// DepthOf is how near to a cause a match is: the signature's own depth, else that of its category.
func (s *Signature) DepthOf() int {
	if s.Depth > 0 {
		return s.Depth
	}
	c, _ := CategoryOf(s.Category)
	return c.Depth
}

// SaysOf is what a match tells of the other members: the signature's own word, else that of its category. An end
// that somebody asked for is told by symptoms only: a signature that is nearer to a cause knows why.
func (s *Signature) SaysOf() Says {
	c, _ := CategoryOf(s.Category)
	switch {
	case s.Says != "":
		return s.Says
	case c.Says == "", c.Says == ToldToStop && s.DepthOf() > Symptom:
		return OfItself
	}
	return c.Says
}

// Lasts says that a run which goes on, or ends with 0, does not refute a match.
func (s *Signature) Lasts() bool {
	c, _ := CategoryOf(s.Category)
	return s.Lasting || c.Lasting
}

// Steps is the remedy as single steps.
func (s *Signature) Steps() []string {
	var steps []string
	for line := range strings.Lines(s.Remedy) {
		if line = strings.TrimSpace(line); line != "" {
			steps = append(steps, line)
		}
	}
	return steps
}
