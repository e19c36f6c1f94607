package get

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	view "github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// placed is what a pod that has a node tells of its job.
type placed struct {
	node    string
	devices int64
	unknown bool // it has devices by claims, whose number the pod does not say
	labels  labels.Set
}

// podsByLabel are the pods that have a node and have not ended, by namespace and by each of their labels: to match every
// pod with every job would take as many looks as both multiplied.
type podsByLabel struct {
	whole bool            // there are no pods but these
	seen  map[string]bool // namespaces of which there is a pod, with a node or without
	all   map[[3]string][]*placed
}

func newPodsByLabel() *podsByLabel {
	return &podsByLabel{seen: map[string]bool{}, all: map[[3]string][]*placed{}}
}

// read is add for an object of a file.
func (p *podsByLabel) read(o *unstructured.Unstructured) {
	var pod corev1.Pod
	if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &pod) != nil {
		pod = corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace()}}
	}
	p.add(&pod)
}

func (p *podsByLabel) add(pod *corev1.Pod) {
	p.seen[pod.Namespace] = true
	if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	of := &job.Pod{Requests: podspec.Effective(&pod.Spec)}
	_, devices := of.Accelerators()
	one := &placed{node: pod.Spec.NodeName, devices: devices, unknown: devices == 0 && len(pod.Spec.ResourceClaims) > 0, labels: pod.Labels}
	for key, value := range pod.Labels {
		at := [3]string{pod.Namespace, key, value}
		p.all[at] = append(p.all[at], one)
	}
}

// of are the pods that one of the selectors selects, each once.
func (p *podsByLabel) of(namespace string, selectors []labels.Selector) (out []*placed) {
	got := map[*placed]bool{}
	for _, s := range selectors {
		for _, pod := range p.fewest(namespace, s) {
			if s.Matches(pod.labels) && !got[pod] {
				got[pod] = true
				out = append(out, pod)
			}
		}
	}
	return out
}

// fewest are the pods with the label of a selector that the fewest have; the selectors of all kinds name one by its value.
func (p *podsByLabel) fewest(namespace string, s labels.Selector) (out []*placed) {
	requirements, _ := s.Requirements()
	first := true
	for _, r := range requirements {
		value, one := r.ValuesUnsorted(), r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals || r.Operator() == selection.In
		if !one || len(value) != 1 {
			continue
		}
		if with := p.all[[3]string{namespace, r.Key(), value[0]}]; first || len(with) < len(out) {
			out, first = with, false
		}
	}
	return out
}

// place says on which nodes the pods of jobs are and what they hold.
func (p *podsByLabel) place(rows []JobRow) {
	for i := range rows {
		r := &rows[i]
		if !p.whole && !p.seen[r.Namespace] {
			continue
		}
		held, known := int64(0), true
		for _, pod := range p.of(r.Namespace, r.Pods) {
			held, known = saturate.Add(held, pod.devices), known && !pod.unknown
			r.Nodes = append(r.Nodes, pod.node)
		}
		slices.Sort(r.Nodes)
		r.Nodes = slices.Compact(r.Nodes)
		if known {
			r.Held = &held
		}
	}
}

// onNode leaves the jobs that have a pod on the node of --node, or failed there first.
func (f *Flags) onNode(rows []JobRow) []JobRow {
	return slices.DeleteFunc(rows, func(r JobRow) bool { return f.node != "" && r.Node != f.node && !slices.Contains(r.Nodes, f.node) })
}

// listed are the jobs that List reads, with what their pods hold; note says what of that is not known.
func (f *Flags) listed(ctx context.Context, live *apiserver.Cluster, names []string) (rows []JobRow, missing apiserver.Unlisted, versions map[schema.GroupVersionResource]string, note string, err error) {
	if rows, missing, versions, err = f.List(ctx, live, names); err != nil {
		return nil, missing, nil, "", err
	}
	clients, err := view.Connect(live.Config)
	if err != nil {
		return nil, missing, nil, "", err
	}
	note, err = f.placeLive(ctx, live, clients.Kube, rows)
	return rows, missing, versions, note, err
}

// placeLive reads the pods of the cluster, as protobuf, which costs both sides a fraction of JSON; note says what is not
// known where they may not be listed.
func (f *Flags) placeLive(ctx context.Context, c *apiserver.Cluster, kube kubernetes.Interface, rows []JobRow) (note string, err error) {
	pods := newPodsByLabel()
	pods.whole = true
	for next := ""; len(rows) > 0; {
		page, err := kube.CoreV1().Pods(f.NamespaceOf(c)).List(ctx, metav1.ListOptions{Limit: 500, Continue: next})
		switch {
		case apierrors.IsForbidden(err) && f.node != "":
			return "", shell.Usagef("%s, so which jobs are on node %s is not known%s", apiserver.Barred([]string{"pods"}, f.NamespaceOf(c)), f.node, apiserver.GrantRead(f.NamespaceOf(c)))
		case apierrors.IsForbidden(err):
			return apiserver.Barred([]string{"pods"}, f.NamespaceOf(c)) + ", so devices are those asked for, held or not" + apiserver.GrantRead(f.NamespaceOf(c)), nil
		case apierrors.IsResourceExpired(err) && next != "": // the listing took longer than the server remembers
			pods, next = newPodsByLabel(), ""
			pods.whole = true
			continue
		case err != nil:
			return "", fmt.Errorf("list pods: %w", err)
		}
		for i := range page.Items {
			pods.add(&page.Items[i])
		}
		if next = page.Continue; next == "" {
			break
		}
	}
	pods.place(rows)
	return "", nil
}

// devices are the accelerators of a job, and how many of them it holds where that is not all.
func (r *JobRow) devices() string {
	if r.Held == nil || *r.Held == r.Devices {
		return fmt.Sprint(r.Devices)
	}
	return fmt.Sprintf("%d/%d", *r.Held, r.Devices)
}

// where is the node of the first cause, else the first one, and on how many more the job is.
func (r *JobRow) where() string {
	first, more := r.Node, len(r.Nodes)
	if first == "" && more > 0 {
		first = r.Nodes[0]
	}
	if slices.Contains(r.Nodes, first) {
		more--
	}
	if more > 0 {
		return fmt.Sprintf("%s +%d", first, more)
	}
	return first
}

// refOf names a job for the selectors of its pods.
func refOf(k *kinds.Kind, o *unstructured.Unstructured) job.Ref {
	return job.Ref{Kind: k.API(), APIVersion: o.GetAPIVersion(), Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID())}
}
