package collect

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// bundleSchema is the form of a bundle: a folder, or the same as a .tgz or .zip.
//
//	bundle.json                        what is in it, where each log comes from, what was missing
//	job.yaml                           the job object
//	pods.yaml events.yaml nodes.yaml   Lists, as kubectl prints them; gone.yaml: pods of earlier attempts
//	objects.yaml                       what stands between: Jobs, JobSets, PodGroups
//	lastgood                           what the last good run printed: forms of lines, no text
//	logs/POD/CONTAINER.log             and CONTAINER.before-1.log of the container before
const bundleSchema = "signalbox.dev/bundle/v1"

const (
	indexFile = "bundle.json"
	goodFile  = "lastgood"
)

// objectFiles are those that are read whole; the others are logs.
var objectFiles = []string{indexFile, goodFile, "job.yaml", "pods.yaml", "gone.yaml", "events.yaml", "nodes.yaml", "objects.yaml"}

type index struct {
	Schema  string     `json:"schema"`
	Taken   time.Time  `json:"taken"`
	Job     string     `json:"job,omitempty"` // for people
	Missing []string   `json:"missing,omitempty"`
	Absent  []string   `json:"absent,omitempty"`
	Logs    []logEntry `json:"logs"`
}

type logEntry struct {
	File      string `json:"file"`
	Pod       string `json:"pod,omitempty"`
	Container string `json:"container,omitempty"`
	Role      string `json:"role,omitempty"`
	Node      string `json:"node,omitempty"`
	Rank      int    `json:"rank"` // -1: unknown
	Attempt   int    `json:"attempt,omitempty"`
	// Spans are the numbers of the lines where they are not all of the log: pairs of the first
	// and how many follow each other. Skipped are bytes of the log that are not here.
	Spans   [][2]int `json:"spans,omitempty"`
	Skipped int64    `json:"skipped,omitempty"`
	Past    bool     `json:"past,omitempty"`
}

func (e logEntry) source() evidence.Source {
	return evidence.Source{Pod: e.Pod, Container: e.Container, Role: e.Role, Node: e.Node, Rank: e.Rank, Attempt: e.Attempt, File: e.File}
}

// Save writes a case as a .tgz: secrets masked in objects and logs, the same bytes for the same
// case. The view of the cluster is not in it; `signalbox snapshot` saves that.
func Save(c diagnose.Case, w io.Writer) error {
	packed := gzip.NewWriter(w)
	return pack(c, &tarFiles{tar.NewWriter(packed), packed})
}

// SaveZip is Save as a .zip, which opens without another program on every desktop.
func SaveZip(c diagnose.Case, w io.Writer) error { return pack(c, zipFiles{zip.NewWriter(w)}) }

func pack(c diagnose.Case, to packer) error {
	b := &bundle{to: to, taken: c.Now.UTC().Truncate(time.Second)}
	b.objects(c)
	b.logs(c)
	b.index.Schema, b.index.Taken, b.index.Missing, b.index.Absent = bundleSchema, b.taken, append(c.Missing, b.index.Missing...), c.Absent
	if c.Job != nil {
		b.index.Job = c.Job.Ref.String()
	}
	text, err := json.MarshalIndent(b.index, "", "  ")
	b.fail(err)
	b.file(indexFile, append(text, '\n'))
	if err := errors.Join(b.err, to.Close()); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	return nil
}

// packer is an archive that is being written.
type packer interface {
	// file begins one of so many bytes; it ends where the next begins.
	file(name string, size int64, modified time.Time) (io.Writer, error)
	Close() error
}

type tarFiles struct {
	tar    *tar.Writer
	packed *gzip.Writer
}

func (f *tarFiles) file(name string, size int64, modified time.Time) (io.Writer, error) {
	return f.tar, f.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: size, ModTime: modified, Format: tar.FormatPAX})
}

func (f *tarFiles) Close() error { return errors.Join(f.tar.Close(), f.packed.Close()) }

type zipFiles struct{ *zip.Writer }

func (f zipFiles) file(name string, _ int64, modified time.Time) (io.Writer, error) {
	return f.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: modified})
}

// bundle is one being written; after its first error it does nothing more.
type bundle struct {
	to    packer
	taken time.Time
	index index
	err   error
}

func (b *bundle) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *bundle) file(name string, text []byte) {
	if b.err != nil {
		return
	}
	to, err := b.to.file(name, int64(len(text)), b.taken)
	b.fail(err)
	if b.err == nil {
		_, err := to.Write(text)
		b.fail(err)
	}
}

func (b *bundle) objects(c diagnose.Case) {
	if c.Job != nil && c.Job.Source != nil {
		text, err := yaml.Marshal(Scrubbed(c.Job.Source).Object)
		b.fail(err)
		b.file("job.yaml", text)
	}
	b.list("pods.yaml", "v1", "Pod", each(c.Pods))
	if len(c.Gone) > 0 {
		b.list("gone.yaml", "v1", "Pod", each(c.Gone))
	}
	b.list("events.yaml", "v1", "Event", each(c.Events))
	b.list("nodes.yaml", "v1", "Node", each(c.Nodes))
	var between []any
	for _, u := range c.Objects {
		between = append(between, u)
	}
	b.list("objects.yaml", "", "", between)
	if c.Good != nil {
		b.file(goodFile, keep.EncodeGood(*c.Good))
	}
}

func each[T any](items []T) []any {
	out := make([]any, len(items))
	for i := range items {
		out[i] = &items[i]
	}
	return out
}

// list writes objects one after the other: ten thousand pods are never one tree.
func (b *bundle) list(name, apiVersion, kind string, objects []any) {
	text := bytes.NewBufferString("apiVersion: v1\nitems:")
	if len(objects) == 0 {
		text.WriteString(" []")
	}
	text.WriteString("\n")
	for _, o := range objects {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
			b.fail(err)
			u = &unstructured.Unstructured{Object: m}
			if err == nil {
				u.SetAPIVersion(apiVersion)
				u.SetKind(kind)
			}
		}
		item, err := yaml.Marshal([]any{Scrubbed(u).Object})
		b.fail(err)
		text.Write(item)
	}
	text.WriteString("kind: List\n")
	b.file(name, text.Bytes())
}

func (b *bundle) logs(c diagnose.Case) {
	used := map[string]bool{}
	for i, log := range c.Logs {
		if b.err != nil {
			return
		}
		s := log.Source
		name := logName(s, i)
		if used[name] {
			name = fmt.Sprintf("logs/%d.log", i)
		}
		used[name] = true
		size, err := copyLog(io.Discard, log) // an archive wants to know before
		if err != nil {
			b.index.Missing = append(b.index.Missing, fmt.Sprintf("log of %s/%s: %v", s.Pod, s.Container, err))
			if size == 0 {
				continue
			}
		}
		to, err := b.to.file(name, size, b.taken)
		b.fail(err)
		if b.err == nil {
			if again, err := copyLog(to, log); again != size {
				b.fail(cmp.Or(err, fmt.Errorf("log of %s/%s changed while it was read", s.Pod, s.Container)))
			}
		}
		b.index.Logs = append(b.index.Logs, logEntry{File: name, Pod: s.Pod, Container: s.Container, Role: s.Role, Node: s.Node, Rank: s.Rank, Attempt: s.Attempt, Spans: keep.Spans(log.Numbers), Skipped: log.Skipped, Past: log.Past})
	}
}

// copyLog writes a log without its secrets, as far as it can be read; it says how much that was.
func copyLog(to io.Writer, log diagnose.Log) (int64, error) {
	in, err := log.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	return redact.Copy(to, in)
}

func logName(s evidence.Source, i int) string {
	if !plainName.MatchString(s.Pod) || !plainName.MatchString(s.Container) {
		return fmt.Sprintf("logs/%d.log", i)
	}
	if s.Attempt > 0 {
		return path.Join("logs", s.Pod, fmt.Sprintf("%s.before-%d.log", s.Container, s.Attempt))
	}
	return path.Join("logs", s.Pod, s.Container+".log")
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$`)

// secretName is what people call variables that hold secrets.
var secretName = regexp.MustCompile(`(?i)(pass|secret|token|credential|private|key|auth)`)

// Scrubbed is a copy of an object without secrets and without what only the API server needs: texts are masked, and so
// are values of environment variables whose name says secret.
func Scrubbed(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	u.SetManagedFields(nil)
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	scrubValues(u.Object)
	u.Object, _ = redact.Tree(u.Object).(map[string]any)
	return u
}

// scrubValues masks the values of variables whose name says secret.
func scrubValues(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			scrubValues(e)
		}
	case map[string]any:
		name, named := v["name"].(string)
		if text, ok := v["value"].(string); ok && text != "" && named && secretName.MatchString(name) {
			v["value"] = "[masked]"
		}
		for _, e := range v {
			scrubValues(e)
		}
	}
}
