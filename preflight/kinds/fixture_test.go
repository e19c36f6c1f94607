package kinds

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/golden"
)

// fixture is a job and the objects that stand beside it.
type fixture struct {
	kind   *Kind
	object *unstructured.Unstructured
	others []*unstructured.Unstructured
}

// got finds what stands beside the job; nothing is known to be absent.
func (f fixture) got(w Want) (*unstructured.Unstructured, job.Presence) {
	for _, o := range f.others {
		if o.GroupVersionKind() == w.GVK && o.GetName() == w.Name && o.GetNamespace() == w.Namespace {
			return o, job.Present
		}
	}
	return nil, job.Unknown
}

func fixtures(t testing.TB) map[string]fixture {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("find fixtures: %v, %d files", err, len(files))
	}
	out := map[string]fixture{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		objects := documents(t, b)
		k := For(objects[0].GroupVersionKind())
		if k == nil || strings.ToLower(k.Name) != filepath.Base(filepath.Dir(file)) {
			t.Fatalf("%s: no kind reads %s in this folder", file, objects[0].GroupVersionKind())
		}
		out[file] = fixture{k, objects[0], objects[1:]}
	}
	return out
}

func documents(t testing.TB, b []byte) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for doc := range bytes.SplitSeq(b, []byte("\n---\n")) {
		m := map[string]any{}
		if err := yaml.Unmarshal(doc, &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, &unstructured.Unstructured{Object: normal(m).(map[string]any)})
	}
	return out
}

// normal turns numbers into what the API machinery's decoder makes of them.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = normal(v[k])
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case float64:
		if n, ok := job.Whole(v); ok {
			return n
		}
	}
	return v
}

func TestGolden(t *testing.T) {
	for file, f := range fixtures(t) {
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			j, err := f.kind.Read(f.object, f.got)
			lawful(t, f.kind, f.object, j, err)
			golden.Equal(t, strings.TrimSuffix(file, ".yaml")+".job.json", render(t, f, j, err))
		})
	}
}

// The view is what a person wants to see of a job in a review.
type view struct {
	Job       string     `json:"job"`
	State     string     `json:"state,omitempty"`
	Suspended bool       `json:"suspended,omitempty"`
	Managed   string     `json:"managedElsewhere,omitempty"`
	Gang      *gangView  `json:"gang,omitempty"`
	Roles     []roleView `json:"roles"`
	Unread    []string   `json:"unread,omitempty"`
	Problems  []string   `json:"problems,omitempty"`
}

type gangView struct {
	MinMembers    int      `json:"minMembers,omitempty"`
	Scheduler     string   `json:"scheduler,omitempty"`
	Queue         string   `json:"queue,omitempty"`
	PriorityClass string   `json:"priorityClass,omitempty"`
	Path          job.Path `json:"path,omitempty"`
	Together      string   `json:"together,omitempty"`
}

type roleView struct {
	Name         string            `json:"name"`
	Pods         string            `json:"pods"`
	Path         job.Path          `json:"path"`
	ReplicasPath job.Path          `json:"replicasPath"`
	Container    string            `json:"container,omitempty"`
	After        []string          `json:"after,omitempty"`
	PodPath      job.Path          `json:"podPath"`
	Origins      []string          `json:"origins,omitempty"`
	Restart      string            `json:"restartPolicy,omitempty"`
	Init         []string          `json:"initContainers,omitempty"`
	Containers   []string          `json:"containers,omitempty"`
	Marks        map[string]string `json:"labelsAndAnnotations,omitempty"`
	Added        map[string]string `json:"addedLabels,omitempty"`
	Requests     map[string]string `json:"requests,omitempty"`
	GPUs         string            `json:"gpus,omitempty"`
	Launch       map[string]string `json:"launch,omitempty"`
}

func render(t *testing.T, f fixture, j *job.Job, err error) []byte {
	t.Helper()
	v := view{}
	if s := f.kind.State(f.object); s != (State{}) {
		v.State = strings.TrimSpace(fmt.Sprintf("%s %s %q since=%s trigger=%s", phaseNames[s.Phase], s.Reason, s.Message, s.Since, s.Trigger))
	}
	if readErr := new(ReadError); errors.As(err, &readErr) {
		for _, p := range readErr.Problems {
			v.Problems = append(v.Problems, p.String())
		}
	}
	if j != nil {
		v.Job, v.Suspended, v.Managed = j.Ref.String()+" "+j.Ref.APIVersion+" "+j.Ref.UID, j.Suspended, j.ManagedElsewhere
		if g := gangView(j.Gang); g != (gangView{}) {
			v.Gang = &g
		}
		for i := range j.Roles {
			v.Roles = append(v.Roles, viewRole(&j.Roles[i]))
		}
		for _, u := range j.Unread {
			v.Unread = append(v.Unread, fmt.Sprintf("%s: %s", u.Path, u))
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var phaseNames = [...]string{"unknown", "created", "running", "restarting", "suspended", "succeeded", "failed"}

func viewRole(r *job.Role) roleView {
	v := roleView{
		Name: r.Name, Pods: spanText(r.Replicas), Path: r.Path, ReplicasPath: r.ReplicasPath, Container: r.Container,
		After: r.After, PodPath: r.Pod.Path, Restart: string(r.Pod.Spec.RestartPolicy), Requests: map[string]string{},
		Marks: map[string]string{}, Launch: viewLaunch(&r.Launch),
	}
	for _, o := range r.Pod.Origins.List() {
		arrow := " <- "
		if o.Whole {
			arrow = " <= "
		}
		v.Origins = append(v.Origins, string(o.Rel)+arrow+string(o.Path))
	}
	for _, c := range r.Pod.Spec.InitContainers {
		v.Init = append(v.Init, c.Name+" "+c.Image)
	}
	for _, c := range r.Pod.Spec.Containers {
		v.Containers = append(v.Containers, c.Name+" "+c.Image)
	}
	for _, m := range []map[string]string{r.Pod.Labels, r.Pod.Annotations} {
		maps.Copy(v.Marks, m)
	}
	v.Added = maps.Clone(r.Pod.Marks.Labels)
	for _, key := range r.Pod.Marks.Varies {
		v.Added[key] = "(differs)"
	}
	for _, key := range r.Pod.Marks.Some {
		v.Added[key] = "(on some)"
	}
	for name, n := range r.Pod.Requests {
		v.Requests[string(name)] = job.Format(name, n)
	}
	if g := r.Pod.GPUs(); g.N > 0 {
		v.GPUs = fmt.Sprintf("%d %s at %s", g.N, g.Resource, g.Path)
	}
	return v
}

func spanText(r job.Range) string {
	if r.Min == r.Max {
		return fmt.Sprint(r.Min)
	}
	return fmt.Sprintf("%d..%d", r.Min, r.Max)
}

func viewLaunch(l *job.Launch) map[string]string {
	out := map[string]string{
		"program": l.Program, "backend": l.Backend, "rendezvous": l.Rendezvous, "path": string(l.Path),
		"procsPath": string(l.ProcsPath), "unread": strings.Join(l.Unread, " | "),
	}
	for name, r := range map[string]job.Range{"procsPerNode": l.ProcsPerNode, "nodes": l.Nodes, "procs": l.Procs} {
		if r.Said() {
			out[name] = spanText(r)
		}
	}
	for k, v := range out {
		if v == "" {
			delete(out, k)
		}
	}
	return out
}

// lawful holds whatever a reader says against what every reader promises.
func lawful(t *testing.T, k *Kind, u *unstructured.Unstructured, j *job.Job, err error) {
	t.Helper()
	var readErr *ReadError
	if err != nil {
		if !errors.As(err, &readErr) {
			t.Fatalf("read %s: %v is no *ReadError", k.Name, err)
		}
		for _, p := range readErr.Problems {
			resolves(t, u, p.Path, "problem: "+p.String())
		}
	}
	if j == nil {
		if err == nil {
			t.Errorf("%s: neither a job nor an error", k.Name)
		}
		return
	}
	for _, n := range j.Unread {
		resolves(t, u, n.Path, "unread: "+n.String())
	}
	if j.Gang.Path != "" {
		resolves(t, u, j.Gang.Path, "gang")
	}
	for i := range j.Roles {
		lawfulRole(t, u, &j.Roles[i])
	}
}

func lawfulRole(t *testing.T, u *unstructured.Unstructured, r *job.Role) {
	t.Helper()
	if r.Replicas.Min < 0 || r.Replicas.Min > r.Replicas.Max {
		t.Errorf("role %s: replicas %v", r.Name, r.Replicas)
	}
	paths := map[string]job.Path{"role": r.Path, "replicas": r.ReplicasPath, "pod": r.Pod.Path}
	for _, p := range []job.Path{r.Launch.Path, r.Launch.ProcsPath, r.Pod.GPUs().Path} {
		if p != "" {
			paths["launch or GPUs "+string(p)] = p
		}
	}
	for what, p := range paths {
		resolves(t, u, p, r.Name+" "+what)
	}
	for _, rel := range leaves(t, &r.Pod.Spec) {
		resolves(t, u, r.Pod.At(rel), fmt.Sprintf("role %s: At(%s)", r.Name, rel))
	}
}

// resolves wants something written at the path, or at the place above it.
func resolves(t *testing.T, u *unstructured.Unstructured, p job.Path, what string) {
	t.Helper()
	if _, err := p.Resolve(u.Object); err == nil {
		return
	}
	if _, err := p.Parent().Resolve(u.Object); err != nil {
		t.Errorf("%s: path %q dangles: %v", what, p, err)
	}
}

// leaves are the paths of everything that a pod spec says.
func leaves(t *testing.T, spec *corev1.PodSpec) []job.Path {
	t.Helper()
	b, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	var out []job.Path
	var walk func(at job.Path, v any)
	walk = func(at job.Path, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				walk(at.Key(k), e)
			}
		case []any:
			for i, e := range v {
				walk(at.Index(i), e)
			}
		default:
			out = append(out, at)
		}
	}
	walk("", v)
	slices.Sort(out)
	return out
}

func TestReadingTwiceIsReadingOnce(t *testing.T) {
	for file, f := range fixtures(t) {
		before := f.object.DeepCopy()
		a, errA := f.kind.Read(f.object, f.got)
		b, errB := f.kind.Read(f.object, f.got)
		if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(errA, errB) {
			t.Errorf("%s: two reads differ", file)
		}
		if !reflect.DeepEqual(before, f.object) {
			t.Errorf("%s: the source was changed", file)
		}
	}
}
