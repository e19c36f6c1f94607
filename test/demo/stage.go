package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fatih/color"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/watch"

	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/line"
)

// patience bounds the wait for one expectation.
const patience = 40 * time.Second

// stage is where the scenes play: a cluster, Signalbox in it, and a shell that shows what
// it runs and remembers what should have been seen.
type stage struct {
	out     io.Writer
	c       *line.Line
	dynamic dynamic.Interface
	folder  string // of the scenes' files: kubectl runs here, so the commands read as typed
	seen    int
	missed  []string
}

type scene struct {
	title string
	play  func(context.Context, *stage) error
}

func newStage(ctx context.Context, out io.Writer) (*stage, error) {
	s := &stage{out: out}
	s.open("A control plane, four pools of nodes, the operators, and Signalbox")
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// start brings up everything the scenes need.
func (s *stage) start(ctx context.Context) (err error) {
	parts := cluster.Machinery | cluster.TrainingOperator | cluster.JobSet | cluster.Trainer
	if s.c, err = line.Start(ctx, line.Options{Parts: parts, Nodes: line.Pools(), Progress: s.out}); err != nil {
		return err
	}
	if s.dynamic, err = dynamic.NewForConfig(s.c.Config()); err != nil {
		return err
	}
	s.folder = filepath.Join(s.c.Root, "test", "demo", "scenes")
	for _, args := range []string{
		"cordon h100-6",
		"apply -f " + filepath.Join(s.folder, "cluster.yaml"),
		"apply -f " + filepath.Join(s.folder, "runtimes.yaml"),
		"apply -f " + filepath.Join(s.folder, "policy.yaml"),
		"wait -n ml --for=condition=Ready pod --all --timeout=30s",
	} {
		if _, err := s.c.Kubectl(ctx, words(args)...); err != nil {
			return err
		}
	}
	return nil
}

// open prints the title of a scene.
func (s *stage) open(title string) {
	fmt.Fprintf(s.out, "\n%s\n", color.New(color.Bold, color.FgCyan).Sprint("━━ "+title))
}

// say prints a line of the narrator.
func (s *stage) say(text string) { fmt.Fprintln(s.out, color.New(color.Faint).Sprint(text)) }

// kubectl runs kubectl as a user would, shows the command and all it printed, and expects
// to see some texts in it.
func (s *stage) kubectl(ctx context.Context, args []string, want ...string) {
	if ctx.Err() != nil {
		return
	}
	fmt.Fprintf(s.out, "%s kubectl %s\n", color.GreenString("$"), quoted(args))
	cmd := exec.CommandContext(ctx, s.c.Program("kubectl"), args...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.c.Kubeconfig())
	var got bytes.Buffer
	cmd.Stdout, cmd.Stderr = &got, &got
	failure := cmd.Run()
	if ctx.Err() != nil {
		return // what the interrupt left of the output is of no use
	}
	fmt.Fprintln(s.out, strings.TrimRight(got.String(), "\n"))
	if failure != nil && got.Len() == 0 {
		fmt.Fprintln(s.out, failure)
	}
	s.expect(ctx, "kubectl "+quoted(args), got.String(), want...)
}

// expect remembers whether the texts were seen. After Ctrl-C nothing is expected: what the
// interrupt cut short is no failure, and leaves no logs behind.
func (s *stage) expect(ctx context.Context, where, got string, want ...string) {
	if ctx.Err() != nil {
		return
	}
	for _, w := range want {
		if strings.Contains(got, w) {
			s.seen++
			continue
		}
		s.missed = append(s.missed, fmt.Sprintf("%q in: %s", w, where))
		fmt.Fprintln(s.out, color.RedString("✗ expected %q", w))
	}
}

// until waits until an object satisfies a condition. Time runs out without an error: what
// is shown next then misses its expectation.
func (s *stage) until(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, ok func(*unstructured.Unstructured) bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := s.dynamic.Resource(resource).Namespace(namespace)
	only := "metadata.name=" + name
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = only
			return client.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (apiwatch.Interface, error) {
			o.FieldSelector = only
			return client.Watch(ctx, o)
		},
	}
	_, err := watch.UntilWithSync(ctx, source, &unstructured.Unstructured{}, nil, func(e apiwatch.Event) (bool, error) {
		u, isObject := e.Object.(*unstructured.Unstructured)
		return isObject && ok(u), nil
	})
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && !meta.IsNoMatchError(err) {
		s.say(fmt.Sprintf("(waited %s for %s %s/%s)", patience, resource.Resource, namespace, name))
	}
}

func (s *stage) close() error {
	if s.c == nil {
		return nil
	}
	if len(s.missed) > 0 {
		s.c.Keep()
	}
	return s.c.Stop()
}

// quoted is a command line that a shell reads back as these arguments.
func quoted(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		if strings.ContainsAny(a, " {}\\\"'$*|;<>()") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out[i] = a
	}
	return strings.Join(out, " ")
}
