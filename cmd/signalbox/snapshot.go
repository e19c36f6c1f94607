package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

func newSnapshot(sh *shell) *cobra.Command {
	var to, salt string
	var pseudonyms bool
	kube := kubeFlags()
	c := &cobra.Command{
		Use:   "snapshot -o FILE",
		Short: "save the cluster view that check and fit need",
		Long: `Snapshot saves what check and fit look at: nodes, the resources that pods take, claims,
quotas, classes, runtimes and queues. No environment, no commands, no images, no secrets;
of the annotations only those that say who adds nodes and which pods belong to a node.
The file is a plain Kubernetes List with one object on each line, YAML or JSON by its
suffix, compressed if that ends in .gz.

With --pseudonymise the names of nodes, namespaces, pods, volumes and owners, and what the
labels of pods and namespaces say, are replaced: each by the same word wherever it stands,
so that who belongs to whom, and who keeps away from whom, stays. Another run uses other
words, unless --salt is given. What stays: names of classes, queues and cluster runtimes
and the labels of nodes, because jobs refer to them; numbers; amounts.`,
		Example: fmt.Sprintf("  %[1]s snapshot -o cluster.yaml.gz\n  %[1]s snapshot -o cluster.json.gz --pseudonymise\n  %[1]s check -f job.yaml --snapshot cluster.yaml.gz", sh.name),
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if to == "" {
				return usagef("no file to write; expected -o FILE.yaml, FILE.json, either with .gz, or -o -")
			}
			if salt != "" && !pseudonyms {
				return usagef("--salt is for pseudonyms; expected --pseudonymise beside it")
			}
			var hide func(*manifest.View)
			if pseudonyms {
				hide = func(v *manifest.View) { disguise(v, cmp.Or(salt, rand.Text())) }
			}
			return own(snapshot(c.Context(), sh, kube, to, hide))
		},
	}
	c.Flags().StringVarP(&to, "output", "o", "", "`file` to write; - is standard output")
	c.Flags().BoolVar(&pseudonyms, "pseudonymise", false, "replace names of nodes, namespaces, pods, volumes and owners")
	c.Flags().BoolVar(&pseudonyms, "pseudonyms", false, "replace names")
	_ = c.Flags().MarkDeprecated("pseudonyms", "its name is --pseudonymise") // fails only for a flag that does not exist
	c.Flags().StringVar(&salt, "salt", "", "the same `text` gives the same pseudonyms; whoever knows it can test guesses")
	kube.AddFlags(c.Flags())
	return c
}

func snapshot(ctx context.Context, sh *shell, kube *genericclioptions.ConfigFlags, to string, hide func(*manifest.View)) error {
	live, err := connect(ctx, kube)
	if none, ok := errors.AsType[*noCluster](err); ok {
		return usagef("%s; expected a kubeconfig whose cluster answers", none.why)
	}
	if err != nil {
		return err
	}
	p := sh.progress()
	view, skipped, err := live.gather(ctx, sh.now(), p)
	p.done()
	if err != nil {
		return err
	}
	if hide != nil {
		hide(&view)
	}
	if err := saveView(sh.out, to, view); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	sh.tell("%s: %s", to, contents(view))
	for _, s := range skipped {
		sh.tell("note: %s: %s", s.Check, s.Reason)
	}
	return nil
}

// contents is "4 Node, 12 Pod, …" in the order of the file.
func contents(v manifest.View) string {
	var order []string
	n := map[string]int{}
	for _, o := range v.Objects {
		if n[o.GetKind()] == 0 {
			order = append(order, o.GetKind())
		}
		n[o.GetKind()]++
	}
	for i, kind := range order {
		order[i] = fmt.Sprintf("%d %s", n[kind], kind)
	}
	if len(order) == 0 {
		return "no objects"
	}
	return strings.Join(order, ", ")
}

// saveView writes a view to a file, whole or not at all.
func saveView(out io.Writer, to string, v manifest.View) error {
	if to == "-" {
		return writeView(out, "yaml", v)
	}
	name := strings.TrimSuffix(to, ".gz")
	format := "yaml"
	if filepath.Ext(name) == ".json" {
		format = "json"
	}
	return saveFile(to, func(w io.Writer) error {
		if name == to {
			return writeView(w, format, v)
		}
		zip := gzip.NewWriter(w)
		if err := writeView(zip, format, v); err != nil {
			return err
		}
		return zip.Close()
	})
}

// saveFile writes beside the file and renames, so that nobody finds half of it.
func saveFile(to string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(to), ".signalbox-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone after the rename
	if err := write(f); err != nil {
		_ = f.Close() // the error of the write is the one to tell
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), to)
}

// writeView writes a List, one object a line, so that a big cluster never stands in memory
// twice. In YAML an object is in flow style: a third of the size, and still a line to grep.
func writeView(w io.Writer, format string, v manifest.View) error {
	complete := make([]string, len(v.Complete))
	for i, r := range v.Complete {
		complete[i] = strings.TrimSuffix(r.String(), ".")
	}
	notes := map[string]any{
		manifest.CompleteAnnotation: strings.Join(complete, ","),
		manifest.ObjectsAnnotation:  strconv.Itoa(len(v.Objects)), // so that half a file is found out
	}
	if !v.Taken.IsZero() {
		notes[manifest.TakenAnnotation] = v.Taken.UTC().Format("2006-01-02T15:04:05Z")
	}
	head := map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"annotations": notes}}
	if format == "json" {
		return jsonLines(w, head, v.Objects)
	}
	return yamlLines(w, head, v.Objects)
}

func yamlLines(w io.Writer, head map[string]any, objects []*unstructured.Unstructured) error {
	text, err := yaml.Marshal(head)
	if err != nil {
		return err
	}
	items := "items:\n"
	if len(objects) == 0 {
		items = "items: []\n"
	}
	if _, err := fmt.Fprintf(w, "%s%s", text, items); err != nil {
		return err
	}
	for _, o := range objects {
		if err := writeLine(w, "- ", o, ""); err != nil {
			return err
		}
	}
	return nil
}

func jsonLines(w io.Writer, head map[string]any, objects []*unstructured.Unstructured) error {
	text, err := plainJSON(head)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s,\"items\":[\n", bytes.TrimSuffix(text, []byte("}"))); err != nil {
		return err
	}
	for i, o := range objects {
		comma := ","
		if i == len(objects)-1 {
			comma = ""
		}
		if err := writeLine(w, "", o, comma); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "]}\n")
	return err
}

func writeLine(w io.Writer, before string, o *unstructured.Unstructured, after string) error {
	text, err := plainJSON(o.Object)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s%s\n", before, text, after)
	return err
}

// plainJSON is JSON without the escapes that only HTML needs.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// sortObjects brings the objects of one resource into the order of their names.
func sortObjects(objects []*unstructured.Unstructured) {
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		if c := strings.Compare(a.GetNamespace(), b.GetNamespace()); c != 0 {
			return c
		}
		return strings.Compare(a.GetName(), b.GetName())
	})
}
