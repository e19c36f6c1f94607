package keep

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/familiar"
)

// What the last good run of a job printed is kept apart from its evidence, because that goes with
// the job, and the next run is another object: in a few ConfigMaps of the namespace that nobody
// owns, each of which holds the last good runs of so many jobs. They hold forms of lines, no text.
const (
	goodPrefix  = Prefix + "good-"
	goodObjects = 16 // of one namespace: a read takes one of them
	goodJobs    = 12 // in one object
)

// Good is what the last run of a job that ended well printed.
type Good = familiar.Good

// GoodKey is where the good runs of a job are: the object's name and the key in it. A job whose name
// is generated is the same one under the next name.
func GoodKey(kind, name, generateName string) (object, key string) {
	key = kind + "." + cmp.Or(generateName, name)
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // it never fails
	if len(key) > 200 || !plainKey.MatchString(key) {
		key = fmt.Sprintf("%s.%08x", kind, h.Sum32())
	}
	return fmt.Sprintf("%s%x", goodPrefix, h.Sum32()%goodObjects), key
}

// plainKey is what a key of a ConfigMap may be.
var plainKey = regexp.MustCompile(`^[A-Za-z0-9._-]{1,253}$`)

// goodHead is the first line of a stored run.
type goodHead struct {
	Version int    `json:"v"`
	UID     string `json:"uid"`
	At      string `json:"at"` // RFC 3339
	Pods    int    `json:"pods"`
	Whole   bool   `json:"whole,omitempty"`
	Over    bool   `json:"over,omitempty"`
}

// EncodeGood is the stored form: a line of JSON, and the forms.
func EncodeGood(g Good) []byte {
	head, _ := json.Marshal(goodHead{1, g.UID, g.At.UTC().Format(time.RFC3339), g.Pods, g.Whole, g.Lines.Over()}) // it always marshals
	return slices.Concat(head, []byte("\n"), g.Lines.Encode())
}

// DecodeGood reads the stored form. Errors are ErrForm.
func DecodeGood(data []byte) (Good, error) {
	text, forms, _ := bytes.Cut(data, []byte("\n"))
	var head goodHead
	if err := json.Unmarshal(text, &head); err != nil {
		return Good{}, fmt.Errorf("%w: last good run: %w", ErrForm, err)
	}
	if head.Version != 1 {
		return Good{}, fmt.Errorf("%w: last good run is of version %d; expected 1", ErrForm, head.Version)
	}
	at, err := time.Parse(time.RFC3339, head.At)
	if err != nil {
		return Good{}, fmt.Errorf("%w: last good run: %w", ErrForm, err)
	}
	lines, err := familiar.Decode(forms, head.Over)
	if err != nil {
		return Good{}, fmt.Errorf("%w: last good run: %w", ErrForm, err)
	}
	return Good{UID: head.UID, At: at, Pods: max(0, head.Pods), Whole: head.Whole, Lines: lines}, nil
}

// WithGood puts a run into the data of its object. Beyond the bound, and where it cannot be read, the
// oldest goes.
func WithGood(data map[string][]byte, key string, g Good) map[string][]byte {
	out := maps.Clone(data)
	if out == nil {
		out = map[string][]byte{}
	}
	at := map[string]time.Time{}
	for other, stored := range out {
		if one, err := DecodeGood(stored); err == nil {
			at[other] = one.At
		}
	}
	delete(out, key)
	oldest := slices.SortedFunc(maps.Keys(out), func(a, b string) int { return cmp.Or(at[a].Compare(at[b]), cmp.Compare(a, b)) })
	for _, other := range oldest[:max(0, len(oldest)-goodJobs+1)] {
		delete(out, other)
	}
	out[key] = EncodeGood(g)
	return out
}
