package collect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// Open reads a bundle: a folder, or a .tgz. Nothing is unpacked to disk, and logs are not held in memory:
// they are read from the bundle whenever one is opened, which is quickest in the order of the case.
// Errors name the file and what was expected, or are the context's.
func Open(ctx context.Context, name string) (diagnose.Case, error) {
	files, err := openContents(ctx, name)
	if err != nil {
		return diagnose.Case{}, fmt.Errorf("open bundle %s: %w", name, err)
	}
	c, err := files.parse()
	if err != nil {
		return diagnose.Case{}, fmt.Errorf("open bundle %s: %w", name, err)
	}
	return c, nil
}

func (f *contents) parse() (diagnose.Case, error) {
	if len(f.left) > 0 { // nobody saved it so
		return diagnose.Case{}, fmt.Errorf("%s is no regular file", f.left[0])
	}
	text, ok := f.objects[indexFile]
	if !ok {
		return diagnose.Case{}, fmt.Errorf("there is no %s in it; `signalbox bundle KIND/NAME -o FILE.tgz` writes one, and `signalbox diagnose FILE` reads logs and objects that are packed otherwise", indexFile)
	}
	var ix index
	if err := json.Unmarshal(text, &ix); err != nil {
		return diagnose.Case{}, fmt.Errorf("read %s: %w", indexFile, err)
	}
	if ix.Schema != bundleSchema {
		return diagnose.Case{}, fmt.Errorf("%s: schema is %q; expected %q", indexFile, ix.Schema, bundleSchema)
	}
	c := diagnose.Case{Now: ix.Taken, Missing: ix.Missing, Absent: ix.Absent}
	if err := errors.Join(
		decodeList(f, "pods.yaml", &c.Pods), decodeList(f, "gone.yaml", &c.Gone), decodeList(f, "events.yaml", &c.Events), decodeList(f, "nodes.yaml", &c.Nodes),
		f.between(&c), f.job(&c), f.good(&c),
	); err != nil {
		return diagnose.Case{}, err
	}
	if err := f.logsOf(ix, &c); err != nil {
		return diagnose.Case{}, err
	}
	return c, nil
}

// mostNumbered bounds the lines of a log whose numbers are kept: such a log is what was kept of a
// longer one.
const mostNumbered = 1 << 20

// logsOf adds the logs that the index names, in the order of the bundle.
func (f *contents) logsOf(ix index, c *diagnose.Case) error {
	named := map[*logFile]bool{}
	order := map[string]int{}
	for _, e := range ix.Logs {
		if e.File == "" {
			continue // how it ended is known, and not its log
		}
		name := path.Clean(e.File)
		file, ok := f.log(name)
		if !ok {
			c.Missing = append(c.Missing, fmt.Sprintf("log of %s/%s: %s is not in the bundle", e.Pod, e.Container, e.File))
			continue
		}
		named[file], order[e.File] = true, file.order
		log := diagnose.Log{Source: e.source(), Open: file.open, Skipped: max(0, e.Skipped), Past: e.Past}
		var err error
		if log.Numbers, err = numbersOf(e.Spans, file); err != nil {
			return fmt.Errorf("%s: %s: %w", indexFile, e.File, err)
		}
		c.Logs = append(c.Logs, log)
	}
	slices.SortStableFunc(c.Logs, func(a, b diagnose.Log) int { return cmp.Compare(order[a.Source.File], order[b.Source.File]) })
	unnamed := 0
	for _, file := range f.logs {
		if !named[file] {
			unnamed++
		}
	}
	if unnamed > 0 {
		c.Missing = append(c.Missing, fmt.Sprintf("files of the bundle that %s does not name: %d", indexFile, unnamed))
	}
	return nil
}

// numbersOf are the numbers of the lines of a log that is not whole.
func numbersOf(spans [][2]int, file *logFile) ([]int, error) {
	if len(spans) == 0 {
		return nil, nil
	}
	have, err := file.lines()
	if err != nil {
		return nil, err
	}
	if have > mostNumbered {
		return nil, fmt.Errorf("it has %d lines; expected at most %d where they are numbered", have, mostNumbered)
	}
	return keep.Numbers(spans, have)
}

// good is what the last good run printed.
func (f *contents) good(c *diagnose.Case) error {
	data, ok := f.objects[goodFile]
	if !ok {
		return nil
	}
	good, err := keep.DecodeGood(data)
	if err != nil {
		return fmt.Errorf("read %s: %w", goodFile, err)
	}
	c.Good = &good
	return nil
}

// job reads the object with the reader of its kind; runtimes it names are looked up in the bundle.
func (f *contents) job(c *diagnose.Case) error {
	text, ok := f.objects["job.yaml"]
	if !ok {
		return nil
	}
	u := &unstructured.Unstructured{}
	if err := decodeYAML(text, &u.Object); err != nil {
		return fmt.Errorf("read job.yaml: %w", err)
	}
	redact.Names(u.Object)
	k := kinds.For(u.GroupVersionKind())
	if k == nil {
		c.Missing = append(c.Missing, fmt.Sprintf("job spec: no reader for %s", u.GroupVersionKind()))
		return nil
	}
	c.Kind = k
	j, err := k.Read(u, func(w kinds.Want) (*unstructured.Unstructured, job.Presence) {
		for _, o := range c.Objects {
			if o.GroupVersionKind() == w.GVK && o.GetName() == w.Name && o.GetNamespace() == w.Namespace {
				return o, job.Present
			}
		}
		return nil, job.Unknown
	})
	if err != nil {
		c.Missing = append(c.Missing, fmt.Sprintf("job spec: %v", err))
	}
	if j == nil {
		j = &job.Job{Source: u}
	}
	if j.Ref.Name == "" {
		j.Ref = job.Ref{Kind: k.API(), APIVersion: u.GetAPIVersion(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID())}
	}
	c.Job, c.State = j, kinds.StateOf(k, u, j)
	return nil
}

func (f *contents) between(c *diagnose.Case) error {
	return f.each("objects.yaml", func(u *unstructured.Unstructured) error {
		c.Objects = append(c.Objects, u)
		return nil
	})
}

func decodeList[T any](f *contents, name string, into *[]T) error {
	return f.each(name, func(u *unstructured.Unstructured) error {
		var v T
		if err := cluster.Decode(u, &v); err != nil {
			return err
		}
		*into = append(*into, v)
		return nil
	})
}

// each hands the objects of a file on, one after the other: ten thousand pods are never one tree.
func (f *contents) each(name string, do func(*unstructured.Unstructured) error) error {
	for d, err := range manifest.Read(name, bytes.NewReader(f.objects[name])) {
		if err != nil {
			return fmt.Errorf("read %w", err)
		}
		if d.List {
			continue
		}
		redact.Names(d.Object.Object)
		if err := do(d.Object); err != nil {
			return fmt.Errorf("read %s: %w", d.Where(), err)
		}
	}
	delete(f.objects, name) // it is not read again
	return nil
}

// decodeYAML keeps whole numbers whole, as objects from the API have them.
func decodeYAML(text []byte, into any) error {
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(asJSON, into)
}
