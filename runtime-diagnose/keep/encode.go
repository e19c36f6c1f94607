package keep

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// The archive is a bundle of package collect (bundle.json, pods.yaml, logs/…).
const (
	bundleSchema = "signalbox.dev/bundle/v1"
	indexFile    = "bundle.json"
	podsFile     = "pods.yaml"
)

type index struct {
	Schema  string  `json:"schema"`
	Taken   string  `json:"taken,omitempty"` // RFC 3339: the latest end
	Kept    int     `json:"kept"`            // version of what follows beyond a bundle
	Dropped int     `json:"dropped,omitempty"`
	Logs    []entry `json:"logs"`
}

// keptVersion is written; others are refused.
const keptVersion = 1

// entry is a log of the bundle and what is known of the rest of it.
type entry struct {
	File      string    `json:"file"`
	Pod       string    `json:"pod,omitempty"`
	Container string    `json:"container,omitempty"`
	Role      string    `json:"role,omitempty"`
	Node      string    `json:"node,omitempty"`
	Rank      int       `json:"rank"`
	Attempt   int       `json:"attempt,omitempty"`
	UID       types.UID `json:"uid,omitempty"`
	Restart   int32     `json:"restart,omitempty"`
	Ended     string    `json:"ended,omitempty"`
	Code      int32     `json:"code,omitempty"`
	Level     int       `json:"level,omitempty"`
	Read      int       `json:"read,omitempty"`
	Bytes     int64     `json:"bytes,omitempty"`
	Spans     [][2]int  `json:"spans,omitempty"`
	Hits      []Hit     `json:"hits,omitempty"`
}

// file is the record's place in the archive: pods of one name follow each other.
func (r *record) file() string {
	return fmt.Sprintf("logs/%s/%s/%s.%d.log", cmp.Or(r.Source.Pod, "pod"), r.Pod, cmp.Or(r.Container, "container"), r.Restart)
}

// plainName is a name as the API server takes it, or none.
var plainName = regexp.MustCompile(`^[A-Za-z0-9._-]{0,253}$`)

// sample is how much text is compressed to find out how small the rest gets.
const sample = 1 << 20

// Encode is the stored form in at most most bytes: what does not fit is folded, the oldest
// attempts first, and stays so. The same set gives the same bytes.
func (s *Set) Encode(most int) []byte {
	a := &archive{}
	var some []*record
	all, step := s.sorted(), 1+s.texts()/sample
	for i := 0; i < len(all); i += step {
		some = append(some, all[i])
	}
	logs := a.logs(some)
	s.frame(a)
	rest := a.out.Len() - logs
	for step > 1 || logs+rest > most {
		// What they take together falls about as their text does; a tenth for what it does not.
		if room := int64(max(0, most-rest)) * 9 / 10; !s.fold(int(texts(some)*room/int64(max(1, logs)))) && step == 1 && !s.drop() {
			break // it is empty
		}
		a.out.Reset()
		some, step = s.sorted(), 1
		logs = a.logs(some)
		s.frame(a)
		rest = a.out.Len() - logs
	}
	return a.out.Bytes()
}

// logs writes logs into one member, because a gang says the same on every rank, and returns the
// bytes they take.
func (a *archive) logs(all []*record) int {
	a.member(func(t *tar.Writer) {
		for _, r := range all {
			if r.text.bytes > 0 {
				file(t, r.file(), r.text.unpack())
			}
		}
	})
	return a.out.Len()
}

// texts is how many bytes logs have, unpacked.
func texts(all []*record) int64 {
	var n int64
	for _, r := range all {
		n += int64(r.text.bytes)
	}
	return n
}

// texts is how many bytes all logs have, unpacked.
func (s *Set) texts() int {
	return int(texts(slices.Collect(maps.Values(s.records))))
}

// frame writes everything but the logs.
func (s *Set) frame(a *archive) {
	ix := index{Schema: bundleSchema, Kept: keptVersion, Dropped: s.dropped, Logs: []entry{}}
	var last time.Time
	for _, e := range s.Ends() {
		r := e.record
		one := entry{
			File: r.file(), Pod: r.Source.Pod, Container: r.Container, Role: r.Source.Role, Node: r.Source.Node, Rank: r.Source.Rank,
			Attempt: e.Attempt, UID: r.Pod, Restart: r.Restart, Code: r.Code, Level: r.level, Read: r.read, Bytes: r.bytes, Spans: r.spans, Hits: r.hits,
		}
		if r.text.bytes == 0 {
			one.File = ""
		}
		if !r.Ended.IsZero() {
			one.Ended = r.Ended.UTC().Format(time.RFC3339Nano)
			if r.Ended.After(last) {
				last = r.Ended
			}
		}
		ix.Logs = append(ix.Logs, one)
	}
	if !last.IsZero() {
		ix.Taken = last.UTC().Format(time.RFC3339)
	}
	type list struct {
		APIVersion string        `json:"apiVersion"`
		Kind       string        `json:"kind"`
		Items      []*corev1.Pod `json:"items"`
	}
	pods := list{"v1", "List", []*corev1.Pod{}}
	for _, p := range s.Pods() {
		p = p.DeepCopy()
		p.APIVersion, p.Kind = "v1", "Pod"
		pods.Items = append(pods.Items, p)
	}
	// Both are values of our own: they always marshal.
	podsText, _ := json.Marshal(pods)
	indexText, _ := json.Marshal(ix)
	a.member(func(t *tar.Writer) {
		file(t, podsFile, podsText)
		file(t, indexFile, indexText)
		end(t)
	})
}

// Bounds of what Decode reads: a stored form that Encode wrote stays far below, and anybody who
// may write ConfigMaps can write another.
const (
	mostFile  = 1 << 20  // bytes of one log, unpacked
	mostIndex = 8 << 20  // bytes of the index or the pods, unpacked
	mostTotal = 64 << 20 // bytes of all, unpacked
	mostFiles = 20000
)

// ErrForm says that a stored form is none that Decode can read.
var ErrForm = errors.New("its form is not known to this version")

// Decode reads the stored form. Errors are ErrForm and say what is wrong with it.
func Decode(data []byte) (*Set, error) {
	s, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	return s, nil
}

func decode(data []byte) (*Set, error) {
	files, err := readAll(data)
	if err != nil {
		return nil, err
	}
	text, ok := files[indexFile]
	if !ok {
		return nil, fmt.Errorf("there is no %s in it", indexFile)
	}
	var ix index
	if err := json.Unmarshal(text, &ix); err != nil {
		return nil, fmt.Errorf("%s: %w", indexFile, err)
	}
	if ix.Schema != bundleSchema || ix.Kept != keptVersion {
		return nil, fmt.Errorf("schema is %q, version %d; expected %q, version %d", ix.Schema, ix.Kept, bundleSchema, keptVersion)
	}
	s := NewSet()
	s.dropped = max(0, ix.Dropped)
	if err := s.readPods(files[podsFile]); err != nil {
		return nil, fmt.Errorf("%s: %w", podsFile, err)
	}
	for i, e := range ix.Logs {
		r, err := e.record(files)
		if err != nil {
			return nil, fmt.Errorf("%s: logs[%d]: %w", indexFile, i, err)
		}
		s.records[r.Key] = r
	}
	return s, nil
}

func (s *Set) readPods(text []byte) error {
	if text == nil {
		return nil
	}
	var list struct {
		Items []*corev1.Pod `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for i, p := range list.Items {
		if p == nil {
			return fmt.Errorf("items[%d] is null", i)
		}
		s.pods[p.UID] = trim(p)
	}
	return nil
}

func (e entry) record(files map[string][]byte) (*record, error) {
	r := &record{
		Record: Record{
			Key:    Key{Pod: e.UID, Container: e.Container, Restart: e.Restart},
			Source: evidence.Source{Pod: e.Pod, Container: e.Container, Role: e.Role, Node: e.Node, Rank: max(-1, e.Rank)},
			Code:   e.Code,
		},
		level: min(max(0, e.Level), lastLevel), read: max(0, e.Read), bytes: max(0, e.Bytes), hits: e.Hits[:min(len(e.Hits), mostHits)],
	}
	for _, name := range []string{e.Pod, e.Container, string(e.UID)} {
		if !plainName.MatchString(name) {
			return nil, fmt.Errorf("%q is no name", name)
		}
	}
	if e.Ended != "" {
		at, err := time.Parse(time.RFC3339Nano, e.Ended)
		if err != nil {
			return nil, fmt.Errorf("ended: %w", err)
		}
		r.Ended = at
	}
	if e.File == "" {
		return r, nil
	}
	text, ok := files[e.File]
	if !ok {
		return nil, fmt.Errorf("%q is not in the archive", e.File)
	}
	if _, err := Numbers(e.Spans, lines(text)); err != nil {
		return nil, fmt.Errorf("%q: %w", e.File, err)
	}
	// Masked again: it is free of secrets when we wrote it, and others may write here.
	masked := []byte(maskLines(string(text)))
	r.spans, r.text = e.Spans, pack(masked)
	return r, nil
}

func maskLines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(reduce.Mask(strings.TrimSuffix(line, "\n")))
		out.WriteByte('\n')
	}
	return out.String()
}

// readAll unpacks an archive into memory, within bounds.
func readAll(data []byte) (map[string][]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	t := tar.NewReader(&io.LimitedReader{R: zip, N: 2 * mostTotal})
	files, total := map[string][]byte{}, 0
	for {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return nil, fmt.Errorf("after %d files: %w", len(files), err)
		case h.Typeflag != tar.TypeReg:
			return nil, fmt.Errorf("%q is no regular file", h.Name)
		case len(files) >= mostFiles:
			return nil, fmt.Errorf("it has more than %d files", mostFiles)
		}
		most := mostFile
		if h.Name == indexFile || h.Name == podsFile {
			most = mostIndex
		}
		text, err := io.ReadAll(io.LimitReader(t, int64(most)+1))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
		if total += len(text); len(text) > most || total > mostTotal {
			return nil, fmt.Errorf("%s: it has more than %d bytes, or all files more than %d", h.Name, most, mostTotal)
		}
		files[h.Name] = text
	}
}
