package input

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// Flags say which manifests to read, as kubectl takes them.
type Flags struct {
	Files     []string
	kustomize string
	stdinName string
	Selector  string
	Recursive bool
	others    bool                                  // named files that hold no object are passed over, as in a folder
	Command   string                                // as it is typed
	Cluster   func() *genericclioptions.ConfigFlags // whose jobs arguments may name; nil, or the answer is: none
}

// Add adds the flags that name manifests.
func (f *Flags) Add(c *cobra.Command) {
	AddFiles(c, &f.Files)
	f.Command = c.Name()
	c.Flags().StringVarP(&f.kustomize, "kustomize", "k", "", "`folder` of a kustomization, which is built")
	c.Flags().BoolVarP(&f.Recursive, "recursive", "R", true, "read folders within folders")
	c.Flags().BoolVar(&f.others, "skip-others", false, "pass over named files that hold no Kubernetes object, as in folders: for a hook that names all files that changed")
	c.Flags().StringVarP(&f.Selector, "selector", "l", "", "only jobs with these `labels`, as kubectl has them")
	c.Flags().StringVar(&f.stdinName, "stdin-filename", "", "`file` that findings in standard input, or in what -k builds, are said to be in")
	_ = c.MarkFlagDirname("kustomize") // fails only for a flag that does not exist
}

// None says that no flag names an input.
func (f *Flags) None() bool { return len(f.Files) == 0 && f.kustomize == "" && f.Selector == "" }

// Read reads what the flags and the arguments name.
func (f *Flags) Read(ctx context.Context, sh *shell.Shell, args []string) (*Input, error) {
	selector, err := labels.Parse(f.Selector)
	if err != nil {
		return nil, shell.Usagef("-l %s: %s", f.Selector, terminal.OneLine(err.Error()))
	}
	read := &Quotes{held: map[string][]byte{}, alias: f.stdinName, Width: terminal.NewPage(sh.Out).Width}
	found, err := f.sources(ctx, sh, args, read.held)
	if err != nil {
		return nil, err
	}
	in, err := inputOf(found)
	if err != nil {
		return nil, err
	}
	in.Quotes = read
	in.Jobs = slices.DeleteFunc(in.Jobs, func(d manifest.Document) bool { return !selector.Matches(labels.Set(d.Object.GetLabels())) })
	return in, nil
}

// sources are the files, addresses and kustomizations behind the flags and arguments; held gets
// the texts that are in no file.
func (f *Flags) sources(ctx context.Context, sh *shell.Shell, args []string, held map[string][]byte) ([]manifest.Source, error) {
	var out []manifest.Source
	if f.ofCluster(args) {
		live, err := f.liveJobs(ctx, args, held)
		if err != nil {
			return nil, err
		}
		out, args = live, nil
	}
	names, err := expanded(slices.Concat(f.Files, args))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 && len(out) == 0 && f.kustomize == "" {
		return nil, shell.Usagef("no input; expected FILE, -f FILE, -f DIR, -k DIR or -f - for standard input")
	}
	for _, name := range names {
		if shell.IsAddress(name) {
			text, err := fetch(ctx, name)
			if err != nil {
				return nil, err
			}
			held[name] = text
			out = append(out, manifest.Stream(name, bytes.NewReader(text)))
			continue
		}
		found, err := manifest.Sources([]string{name}, sh.In)
		if err != nil {
			if word, called, ok := strings.Cut(name, "/"); apiserver.KindCalled(word) != nil && !strings.Contains(called, "/") && !shell.NamesFile(name) {
				if !ok { // KIND NAME
					name = strings.Join(args, " ")
				}
				return nil, shell.Usagef("%s is of the cluster; expected a file, or: kubectl get %s -o yaml | %s %s -f -; %s audit reviews all jobs that there are", name, name, sh.Name, cmp.Or(f.Command, "check"), sh.Name)
			}
			if p, ok := errors.AsType[*manifest.Problem](err); ok && f.Cluster != nil && p.Have == manifest.NoSuchFile && !strings.ContainsAny(name, "./") {
				p.Want += fmt.Sprintf("; a job of the cluster is KIND/NAME, for example pytorchjob/%s", terminal.FileName(name))
			}
			return nil, err
		}
		for _, s := range found {
			switch {
			case s.Name == "-" && sh.In != nil:
				name := cmp.Or(f.stdinName, s.Name)
				begin, err := io.ReadAll(io.LimitReader(sh.In, maxQuoted+1))
				if err != nil {
					return nil, fmt.Errorf("read standard input: %w", err)
				}
				held[name] = nil // too long to be quoted, and the file that it is named for is another text
				if len(begin) <= maxQuoted {
					held[name] = begin
				}
				s = manifest.Stream(name, io.MultiReader(bytes.NewReader(begin), sh.In))
			case s.Recurse && !f.Recursive && filepath.Dir(s.Name) != filepath.Clean(name):
				continue
			}
			s.Recurse = s.Recurse || f.others && s.Name != cmp.Or(f.stdinName, "-")
			out = append(out, s)
		}
	}
	if f.kustomize != "" {
		built, err := kustomized(f.kustomize)
		if err != nil {
			return nil, err
		}
		name := cmp.Or(f.stdinName, BuiltFrom+f.kustomize)
		held[name] = built
		out = append(out, manifest.Stream(name, bytes.NewReader(built)))
	}
	return out, nil
}

// ofCluster says whether arguments name jobs of the cluster, which is asked: no file is called so, and a kind is.
func (f *Flags) ofCluster(args []string) bool {
	if len(args) == 0 || f.Cluster == nil || f.Cluster() == nil {
		return false
	}
	word, name, ok := strings.Cut(args[0], "/")
	_, err := os.Lstat(args[0])
	return err != nil && apiserver.KindCalled(word) != nil && (ok || len(args) > 1) && !strings.Contains(name, "/") && !shell.NamesFile(args[0])
}

// liveJobs are jobs of the cluster as kubectl get -o yaml prints them, KIND/NAME… or KIND NAME….
func (f *Flags) liveJobs(ctx context.Context, args []string, held map[string][]byte) (out []manifest.Source, err error) {
	targets, err := apiserver.ReadNamed(args)
	if err != nil {
		return nil, err
	}
	live, err := apiserver.Reach(ctx, f.Cluster(), ", or a file: "+strings.Join(args, " ")+" is of the cluster")
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		object, err := live.Asked(ctx, t)
		if err != nil {
			return nil, err
		}
		object.SetManagedFields(nil)
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("write %s as YAML: %w", t.Name, err)
		}
		name := strings.ToLower(t.Kind.Name) + "/" + t.Name
		held[name] = text
		out = append(out, manifest.Stream(name, bytes.NewReader(text)))
	}
	return out, nil
}

// expanded are the values of -f, each once: what is no file is a list with commas, or a pattern.
func expanded(values []string) ([]string, error) {
	var out []string
	for _, v := range values {
		_, err := os.Lstat(v)
		switch {
		case v == "-", err == nil, shell.IsAddress(v):
			out = append(out, v)
		case strings.Contains(v, ","):
			parts, err := expanded(strings.Split(v, ","))
			if err != nil {
				return nil, err
			}
			out = append(out, parts...)
		case strings.ContainsAny(v, "*?["):
			found, err := filepath.Glob(v)
			if err != nil || len(found) == 0 {
				return nil, &manifest.Problem{Source: v, Have: "no file is called like that", Want: "a pattern that files match"}
			}
			out = append(out, found...)
		case v != "":
			out = append(out, v)
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(v string) bool {
		again := seen[v]
		seen[v] = true
		return again
	}), nil
}

const (
	maxFetched  = 64 << 20 // of one address, which is held in memory
	fetchWithin = 30 * time.Second
)

// fetch is what an address holds.
func fetch(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	unread := func(have string) error {
		return &manifest.Problem{Source: address, Have: have, Want: "an address that answers with manifests"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, unread("is no address")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, unread(terminal.OneLine(strings.TrimPrefix(err.Error(), `Get "`+address+`": `)))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, unread(fmt.Sprintf("answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))) // not in words of the server's, which a terminal may obey
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxFetched+1))
	switch {
	case err != nil:
		return nil, unread(terminal.OneLine(err.Error()))
	case len(text) > maxFetched:
		return nil, unread(fmt.Sprintf("holds more than %d MiB", maxFetched>>20))
	}
	return text, nil
}

// BuiltFrom precedes the folder in the name of what -k builds.
const BuiltFrom = "kustomize build "

// kustomized is what kubectl kustomize prints of a folder.
func kustomized(dir string) ([]byte, error) {
	at, err := os.Stat(dir)
	if err != nil || !at.IsDir() {
		return nil, &manifest.Problem{Source: dir, Have: "no such folder", Want: "a folder with a kustomization.yaml"}
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, &manifest.Problem{Source: dir, Have: "kustomize cannot build it: " + terminal.OneLine(err.Error()), Want: "a kustomization that builds"}
	}
	return objects.AsYaml()
}

// AddFiles adds -f.
func AddFiles(c *cobra.Command, files *[]string) {
	c.Flags().StringArrayVarP(files, "filename", "f", nil, "`file`, folder, address or - for standard input; repeatable, with commas and patterns")
}
