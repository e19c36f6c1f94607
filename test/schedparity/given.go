package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/test/build"
)

// mostGiven is how many pods a gang from a file may have to be judged here.
const mostGiven = 256

// fixtures of the repository that hold jobs, from this folder.
var fixtures = []string{"../../config/samples", "../../examples", "../../preflight/kinds/testdata", "../../cmd/signalbox/testdata"}

// written is the folder of the scenarios that were written by hand.
const written = "../../cmd/signalbox/testdata/fit"

// givenScenarios are all jobs of the corpus and the repository on clusters of the
// repository and three of our own. skipped says what was passed over.
func givenScenarios(corpus string) (out []*scenario, skipped string, err error) {
	jobs := map[string]*job.Job{}
	clusters := standing()
	folders := append(slices.Clone(fixtures), filepath.Join(corpus, "manifests"), filepath.Join(corpus, "clusters"))
	for _, folder := range folders {
		if err := load(folder, jobs, clusters); err != nil {
			return nil, "", err
		}
	}
	if out, err = byHand(written); err != nil {
		return nil, "", err
	}
	hand, large := len(out), 0
	for _, name := range sorted(jobs) {
		g := named(alone(gang.Of(jobs[name])).InParts(ordinary))
		g.Unread = "" // the scheduler is given the pods that were read, and no others
		switch {
		case g.Pods() > mostGiven:
			large++
			continue
		case g.Pods() == 0 || twice(g):
			continue
		}
		for _, on := range sorted(clusters) {
			out = append(out, &scenario{name: name + " on " + on, clusterState: *clusters[on], gang: g, about: []string{"given jobs"}})
		}
	}
	return out, fmt.Sprintf("%d written by hand, %d jobs on %d clusters; passed over: %d of more than %d pods", hand, len(jobs)-large, len(clusters), large, mostGiven), nil
}

// alone is a gang without what others than kube-scheduler make of it or ask of its places: there the answer is unknown, and
// kube-scheduler has one.
func alone(g gang.Gang) gang.Gang {
	g.Untied, g.Queue, g.Manager = "", "", ""
	for i := range g.Groups {
		g.Groups[i].Untied = ""
	}
	return g
}

// twice says that two roles have one name, so that a plan does not tell them apart.
func twice(g gang.Gang) bool {
	seen := map[string]bool{}
	for _, o := range g.Groups {
		if seen[o.Name] {
			return true
		}
		seen[o.Name] = true
	}
	return false
}

func sorted[V any](m map[string]V) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// standing are clusters that are always there.
func standing() map[string]*clusterState {
	nodes := func(n int, options ...build.NodeOption) (out []*corev1.Node) {
		for i := range n {
			o := append([]build.NodeOption{build.Label(zone, fmt.Sprintf("z%d", i%2)), build.Label(rack, fmt.Sprintf("r%d", i/4)), build.Allocatable("ephemeral-storage", "500Gi")}, options...)
			out = append(out, build.Node(fmt.Sprintf("node-%02d", i), o...))
		}
		return out
	}
	half := &clusterState{nodes: nodes(8, build.GPUs(8))}
	for i, n := range half.nodes {
		half.pods = append(half.pods, build.Pod(fmt.Sprintf("busy-%d", i), build.On(n.Name), build.Asks(fmt.Sprint(1+i%7)), build.Requests("cpu=40")))
	}
	return map[string]*clusterState{
		"eight idle nodes": {nodes: nodes(8, build.GPUs(8))},
		"a busy cluster":   half,
		"two small nodes":  {nodes: nodes(2, build.GPUs(1), build.Allocatable("cpu", "8"), build.Allocatable("memory", "32Gi"))},
	}
}

// load reads a folder's jobs, and its files that hold nodes as clusters. A folder that is
// not there is passed over.
func load(folder string, jobs map[string]*job.Job, clusters map[string]*clusterState) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && path == written: // each on its own cluster
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".yaml") && !strings.HasSuffix(path, ".yml"):
			return nil
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		name := strings.TrimPrefix(path, "../../")
		c := &clusterState{}
		for doc, err := range manifest.Read(path, file) {
			if err != nil || doc.Object == nil || doc.List {
				continue // what cannot be read is for other tests
			}
			c.keep(doc.Object)
			if kind := kinds.For(doc.Object.GroupVersionKind()); kind != nil {
				if j, err := kind.Read(doc.Object, func(kinds.Want) (*unstructured.Unstructured, job.Presence) { return nil, job.Unknown }); err == nil && j != nil {
					jobs[fmt.Sprintf("%s:%d", name, doc.Line)] = j
				}
			}
		}
		if len(c.nodes) > 0 {
			clusters[name] = c
		}
		return nil
	})
}

// keep adds an object to a cluster.
func (c *clusterState) keep(o *unstructured.Unstructured) {
	switch o.GroupVersionKind().String() {
	case "/v1, Kind=Node":
		n := &corev1.Node{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, n) == nil {
			c.nodes = append(c.nodes, n)
		}
	case "/v1, Kind=Pod":
		p := &corev1.Pod{}
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, p) == nil {
			stored(p)
			p.UID = types.UID(p.Namespace + "/" + p.Name) // the scheduler's cache asks for one
			c.pods = append(c.pods, p)
		}
	}
}

// String lists a scenario, a line for each node, pod and role.
func (s *scenario) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: about %s\n", s.name, strings.Join(s.about, ", "))
	for _, n := range s.nodes {
		fmt.Fprintf(&b, "node %s %v taints=%v ready=%v unschedulable=%v %v\n", n.Name, amounts(n.Status.Allocatable), n.Spec.Taints, ready(n), n.Spec.Unschedulable, n.Labels)
	}
	for _, p := range s.pods {
		fmt.Fprintf(&b, "pod %s/%s on %s %v %v owners=%d phase=%s deleted=%v affinity=%s\n", p.Namespace, p.Name, p.Spec.NodeName, amounts(p.Spec.Containers[0].Resources.Requests), p.Labels, len(p.OwnerReferences), p.Status.Phase, p.DeletionTimestamp != nil, text(p.Spec.Affinity))
	}
	for _, o := range s.objects {
		if _, namespace := o.(*corev1.Namespace); !namespace {
			fmt.Fprintf(&b, "object %T %s\n", o, text(o))
		}
	}
	for _, g := range s.gang.Groups {
		fmt.Fprintf(&b, "role %s count=%d min=%d %v %s\n", g.Name, g.Count, g.Min, g.Pod.Labels, text(g.Pod.Spec))
	}
	return b.String()
}
