package policies

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

const mostMasked = 64 // places that are named

// shortestSecret is from how many bytes a secret is looked for within other texts: of a shorter one
// every word would be full.
const shortestSecret = 4

// hiding takes out of texts what is secret in one input: a rule may repeat a value without the name
// that told that it is secret.
type hiding struct {
	places []string // where in the input something secret stood, as JSON pointers (RFC 6901)
	pairs  [][2]string
	in     *strings.Replacer
}

// Masked is an input as others may read it: without what is secret in it.
func Masked(in preflight.Input) (out preflight.Input, err error) {
	masked, _, err := maskedInput(in)
	if err != nil {
		return out, err
	}
	text, err := json.Marshal(masked)
	if err != nil {
		return out, fmt.Errorf("write policy input: %w", err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return out, fmt.Errorf("write policy input: %w", err)
	}
	return out, nil
}

// maskedInput is an input without what is secret in it, and what that was.
func maskedInput(in preflight.Input) (map[string]any, *hiding, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, nil, fmt.Errorf("write policy input: %w", err)
	}
	var before, after map[string]any
	for _, to := range []*map[string]any{&before, &after} {
		if err := utiljson.Unmarshal(text, to); err != nil {
			return nil, nil, fmt.Errorf("write policy input: %w", err)
		}
	}
	redact.Tree(after)
	h := &hiding{}
	h.differ(before, after, "")
	h.ready()
	return after, h, nil
}

// named is what the names of labels tell to be secret, which a rule may repeat without them. Whatever else of an
// input is secret is masked in it, or is seen to be so without a name.
func named(in *preflight.Input) *hiding {
	h := &hiding{}
	add := func(labels map[string]string) {
		for key, value := range labels {
			if len(value) >= shortestSecret && redact.Named(key, value) {
				h.pairs = append(h.pairs, [2]string{value, redact.Masked})
			}
		}
	}
	add(in.Job.Labels)
	add(in.Request.NamespaceLabels)
	for i := range in.Job.Roles {
		add(in.Job.Roles[i].Labels)
		add(in.Job.Roles[i].NodeSelector)
	}
	h.ready()
	return h
}

// ready begins to look for what was found, the longest first: one may be part of another.
func (h *hiding) ready() {
	slices.SortFunc(h.pairs, func(a, b [2]string) int { return cmp.Or(cmp.Compare(len(b[0]), len(a[0])), cmp.Compare(a[0], b[0])) })
	var words []string
	for _, p := range h.pairs {
		words = append(words, p[0], p[1])
		if quoted := strings.Trim(strconv.Quote(p[0]), `"`); quoted != p[0] {
			words = append(words, quoted, p[1])
		}
	}
	h.in = strings.NewReplacer(words...)
}

// ruled takes what is secret out of an answer.
func (h *hiding) ruled(out *preflight.Ruled) {
	if len(h.pairs) == 0 {
		return
	}
	for i := range out.Rulings {
		out.Rulings[i] = h.ruling(out.Rulings[i])
	}
	out.Undecided, out.Exempted = h.texts(out.Undecided), h.texts(out.Exempted)
}

// differ looks where the texts of two trees of one shape were masked.
func (h *hiding) differ(before, after any, at string) {
	switch b := before.(type) {
	case map[string]any:
		a, _ := after.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(b)) {
			h.differ(b[key], a[key], at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
		}
	case []any:
		a, _ := after.([]any)
		for i := range b {
			if i < len(a) {
				h.differ(b[i], a[i], at+"/"+strconv.Itoa(i))
			}
		}
	case string:
		a, _ := after.(string)
		if b != a && len(b) >= shortestSecret {
			h.pairs = append(h.pairs, [2]string{b, a})
		}
		// much of an input is masked as it is built
		if strings.Contains(a, redact.Masked) && len(h.places) < mostMasked {
			h.places = append(h.places, at)
		}
	}
}

func (h *hiding) text(s string) string { return redact.Text(h.in.Replace(s)) }

func (h *hiding) texts(all []string) (out []string) {
	for _, s := range all {
		out = append(out, h.text(s))
	}
	return out
}

func (h *hiding) ruling(r preflight.Ruling) preflight.Ruling {
	r.Message, r.Path = h.text(r.Message), job.Path(h.text(string(r.Path)))
	return r
}
