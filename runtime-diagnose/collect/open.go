package collect

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
)

// Bounds of what Open reads. A bundle of Save stays below them; a bundle from a stranger has to.
const (
	maxFiles = 4096
	maxFile  = 64 << 20  // bytes of one file, unpacked
	maxTotal = 256 << 20 // bytes of all files, unpacked
)

// Open reads a bundle: a folder, or a .tgz. Nothing is unpacked to disk. Errors name the file and
// what was expected.
func Open(name string) (diagnose.Case, error) {
	files, err := openFiles(name)
	if err != nil {
		return diagnose.Case{}, fmt.Errorf("open bundle %s: %w", name, err)
	}
	c, err := files.parse()
	if err != nil {
		return diagnose.Case{}, fmt.Errorf("open bundle %s: %w", name, err)
	}
	return c, nil
}

// files are the contents of a bundle by path.
type files map[string][]byte

func openFiles(name string) (files, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return readDir(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readArchive(f)
}

// room counts what was read against the bounds.
type room struct {
	files int
	bytes int64
}

func (r *room) take(name string, in io.Reader) ([]byte, error) {
	if r.files++; r.files > maxFiles {
		return nil, fmt.Errorf("it has more than %d files", maxFiles)
	}
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxFile)
	}
	if r.bytes += int64(len(text)); r.bytes > maxTotal {
		return nil, fmt.Errorf("it has more than %d bytes in all", maxTotal)
	}
	return text, nil
}

func readDir(name string) (files, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	out, space := files{}, room{}
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is no regular file", p)
		}
		f, err := root.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		out[p], err = space.take(p, f)
		return err
	})
	return out, err
}

func readArchive(in io.Reader) (files, error) {
	zip, err := gzip.NewReader(bufio.NewReader(in))
	if err != nil {
		return nil, fmt.Errorf("expected a folder or a gzip-compressed tar: %w", err)
	}
	// The tar reader skips what nobody reads, and that counts too.
	t := tar.NewReader(&io.LimitedReader{R: zip, N: 2 * maxTotal})
	out, space := files{}, room{}
	for {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("the archive ends in the middle, after %d files", space.files)
		case err != nil:
			return nil, fmt.Errorf("read the archive after %d files: %w", space.files, err)
		case h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag != tar.TypeReg:
			return nil, fmt.Errorf("%q is no regular file", h.Name)
		case !fs.ValidPath(path.Clean(h.Name)) || strings.Contains(h.Name, `\`):
			return nil, fmt.Errorf("%q leaves the bundle", h.Name)
		}
		text, err := space.take(h.Name, t)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("the archive ends in the middle of %s", h.Name)
		}
		if err != nil {
			return nil, err
		}
		out[path.Clean(h.Name)] = text
	}
}

func (f files) parse() (diagnose.Case, error) {
	f = f.unwrapped()
	text, ok := f[indexFile]
	if !ok {
		return diagnose.Case{}, fmt.Errorf("there is no %s in it; `signalbox bundle KIND/NAME -o FILE.tgz` writes one", indexFile)
	}
	var ix index
	var err error
	if err := json.Unmarshal(text, &ix); err != nil {
		return diagnose.Case{}, fmt.Errorf("read %s: %w", indexFile, err)
	}
	if ix.Schema != bundleSchema {
		return diagnose.Case{}, fmt.Errorf("%s: schema is %q; expected %q", indexFile, ix.Schema, bundleSchema)
	}
	c := diagnose.Case{Now: ix.Taken, Missing: ix.Missing}
	if err := errors.Join(
		decodeList(f, "pods.yaml", &c.Pods), decodeList(f, "events.yaml", &c.Events), decodeList(f, "nodes.yaml", &c.Nodes),
		f.between(&c), f.job(&c), f.good(&c),
	); err != nil {
		return diagnose.Case{}, err
	}
	for _, e := range ix.Logs {
		if e.File == "" {
			continue // how it ended is known, and not its log
		}
		body, ok := f[path.Clean(e.File)]
		if !ok {
			c.Missing = append(c.Missing, fmt.Sprintf("log of %s/%s: %s is not in the bundle", e.Pod, e.Container, e.File))
			continue
		}
		log := Log(e.source(), body)
		log.Skipped, log.Past = max(0, e.Skipped), e.Past
		if log.Numbers, err = keep.Numbers(e.Spans, body); err != nil {
			return diagnose.Case{}, fmt.Errorf("%s: %s: %w", indexFile, e.File, err)
		}
		c.Logs = append(c.Logs, log)
	}
	return c, nil
}

// good is what the last good run printed.
func (f files) good(c *diagnose.Case) error {
	data, ok := f[goodFile]
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

// unwrapped drops one folder around everything, as `tar czf x.tgz folder` leaves it.
func (f files) unwrapped() files {
	if _, ok := f[indexFile]; ok {
		return f
	}
	prefix := ""
	for name := range f {
		first, _, ok := strings.Cut(name, "/")
		if !ok || prefix != "" && prefix != first {
			return f
		}
		prefix = first
	}
	out := files{}
	for name, text := range f {
		out[strings.TrimPrefix(name, prefix+"/")] = text
	}
	return out
}

// job reads the object with the reader of its kind; runtimes it names are looked up in the bundle.
func (f files) job(c *diagnose.Case) error {
	text, ok := f["job.yaml"]
	if !ok {
		return nil
	}
	u := &unstructured.Unstructured{}
	if err := decodeYAML(text, &u.Object); err != nil {
		return fmt.Errorf("read job.yaml: %w", err)
	}
	k := kinds.For(u.GroupVersionKind())
	if k == nil {
		c.Missing = append(c.Missing, fmt.Sprintf("job spec: no reader for %s", u.GroupVersionKind()))
		return nil
	}
	c.Kind = k
	if k.State != nil {
		c.State = k.State(u)
	}
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
		j.Ref = job.Ref{Kind: k.Name, APIVersion: u.GetAPIVersion(), Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID())}
	}
	c.Job = j
	return nil
}

func (f files) between(c *diagnose.Case) error {
	items, err := listItems(f, "objects.yaml")
	for _, item := range items {
		c.Objects = append(c.Objects, &unstructured.Unstructured{Object: item})
	}
	return err
}

func decodeList[T any](f files, name string, into *[]T) error {
	items, err := listItems(f, name)
	if err != nil {
		return err
	}
	for i, item := range items {
		var v T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item, &v); err != nil {
			return fmt.Errorf("read %s: items[%d]: %w", name, i, err)
		}
		*into = append(*into, v)
	}
	return nil
}

func listItems(f files, name string) ([]map[string]any, error) {
	text, ok := f[name]
	if !ok {
		return nil, nil
	}
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := decodeYAML(text, &list); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return list.Items, nil
}

// decodeYAML keeps whole numbers whole, as objects from the API have them.
func decodeYAML(text []byte, into any) error {
	asJSON, err := yaml.YAMLToJSON(text)
	if err != nil {
		return err
	}
	return utiljson.Unmarshal(asJSON, into)
}
