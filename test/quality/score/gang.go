package score

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// The labels of the training operator's pods.
const (
	replicaType  = "training.kubeflow.org/replica-type"
	replicaIndex = "training.kubeflow.org/replica-index"
)

// How long after its last sign of life a gang was looked at: soon, or half an hour later where it
// hangs.
const (
	lookedAfter = 5 * time.Second
	hungFor     = 30 * time.Minute
)

// recorded is a gang whose processes really ran: its pods, and their logs with the kubelet's stamps.
type recorded struct {
	dir     string
	pods    []corev1.Pod
	stamped map[string][]byte // pod → its log
	plain   map[string][]byte
	taken   time.Time
}

// gangWays are the ways in which people hand over a gang: as a bundle, as files beside the pods, and
// as files alone; with and without stamps.
func gangWays(dir string, label Label) ([]way, error) {
	g, err := readGang(dir, label)
	if err != nil {
		return nil, err
	}
	bundle, err := g.bundle()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "pods.yaml"))
	if err != nil {
		return nil, fmt.Errorf("read gang: %w", err)
	}
	ways := []way{{"bundle", bundle}}
	for _, w := range []struct {
		mode string
		logs map[string][]byte
		pods bool
	}{{"files-ts", g.stamped, true}, {"files", g.plain, true}, {"logs-ts", g.stamped, false}, {"logs", g.plain, false}} {
		story := diagnose.Case{Now: g.taken}
		for _, pod := range slices.Sorted(maps.Keys(w.logs)) {
			if len(w.logs[pod]) > 0 {
				story.AddLog("log-"+pod+".txt", w.logs[pod])
			}
		}
		if w.pods {
			bare.Add(&story, "pods.yaml", text)
		}
		story.Adopt()
		ways = append(ways, way{w.mode, story})
	}
	return ways, nil
}

func readGang(dir string, label Label) (recorded, error) {
	g := recorded{dir: dir, stamped: map[string][]byte{}, plain: map[string][]byte{}}
	text, err := os.ReadFile(filepath.Join(dir, "pods.yaml"))
	if err != nil {
		return g, fmt.Errorf("read gang: %w", err)
	}
	var list corev1.PodList
	if err := yaml.Unmarshal(text, &list); err != nil {
		return g, fmt.Errorf("read pods of %s: %w", dir, err)
	}
	g.pods = list.Items
	var last time.Time
	running := false
	for _, p := range g.pods {
		if g.stamped[p.Name], err = os.ReadFile(filepath.Join(dir, "ts", "log-"+p.Name+".txt")); err != nil {
			return g, fmt.Errorf("read gang: %w", err)
		}
		if g.plain[p.Name], err = os.ReadFile(filepath.Join(dir, "log-"+p.Name+".txt")); os.IsNotExist(err) {
			g.plain[p.Name] = unstamped(g.stamped[p.Name])
		} else if err != nil {
			return g, fmt.Errorf("read gang: %w", err)
		}
		running = running || p.Status.Phase == corev1.PodRunning
		for _, at := range []time.Time{startOf(&p), endOf(&p), lastStamp(g.stamped[p.Name])} {
			if at.After(last) {
				last = at
			}
		}
	}
	g.taken = last.Add(lookedAfter)
	if running && label.Category != "healthy" {
		g.taken = last.Add(hungFor)
	}
	if label.Taken != "" {
		if g.taken, err = time.Parse(time.RFC3339, label.Taken); err != nil {
			return g, fmt.Errorf("read label of %s: %w", dir, err)
		}
	}
	return g, nil
}

// startOf is when a pod began: the last sign of life of one that never printed a line.
func startOf(p *corev1.Pod) time.Time {
	if p.Status.StartTime == nil {
		return time.Time{}
	}
	return p.Status.StartTime.Time
}

func endOf(p *corev1.Pod) time.Time {
	var end time.Time
	for _, s := range p.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && t.FinishedAt.After(end) {
			end = t.FinishedAt.Time
		}
	}
	return end
}

func lastStamp(log []byte) time.Time {
	log = bytes.TrimRight(log, "\n")
	line := log[bytes.LastIndexByte(log, '\n')+1:]
	word, _, _ := bytes.Cut(line, []byte(" "))
	at, err := time.Parse(time.RFC3339Nano, string(word))
	if err != nil {
		return time.Time{}
	}
	return at
}

func unstamped(log []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(log) {
		b.Write(stamp.ReplaceAll(line, nil))
	}
	return b.Bytes()
}

// bundle is the gang as it is collected from a cluster.
func (g recorded) bundle() (diagnose.Case, error) {
	c := diagnose.Case{Now: g.taken, Pods: g.pods}
	u := g.job()
	k := kinds.For(u.GroupVersionKind())
	if k == nil {
		return c, fmt.Errorf("gang %s: no reader for %s", g.dir, u.GroupVersionKind())
	}
	j, err := k.Read(u, func(kinds.Want) (*unstructured.Unstructured, job.Presence) { return nil, job.Unknown })
	if err != nil {
		c.Missing = append(c.Missing, "job spec: "+err.Error())
	}
	c.Kind, c.State, c.Job = k, k.State(u), j
	for _, p := range g.pods {
		container := p.Spec.Containers[0].Name
		rank, err := strconv.Atoi(p.Labels[replicaIndex])
		if err != nil {
			rank = -1
		}
		text := g.stamped[p.Name]
		c.Logs = append(c.Logs, diagnose.Log{
			Source: evidence.Source{Pod: p.Name, Container: container, Role: roleOf(&p), Node: p.Spec.NodeName, Rank: rank, File: "logs/" + p.Name + "/" + container + ".log"},
			Open:   func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
		})
	}
	return c, nil
}

// replicaKeys are the fields of the kinds under which replicas stand.
var replicaKeys = map[string]string{"PyTorchJob": "pytorchReplicaSpecs", "MPIJob": "mpiReplicaSpecs", "XGBoostJob": "xgbReplicaSpecs"}

func roleOf(p *corev1.Pod) string {
	role := p.Labels[replicaType]
	return strings.ToUpper(role[:min(1, len(role))]) + role[min(1, len(role)):]
}

// job is what the training operator would show of the gang: it sets Failed when the first replica
// has failed, and Succeeded when all have.
func (g recorded) job() *unstructured.Unstructured {
	first := &g.pods[0]
	owner := first.OwnerReferences[0]
	replicas := map[string]any{}
	start := first.CreationTimestamp.UTC().Format(time.RFC3339)
	var failed, succeeded []string
	for i := range g.pods {
		p := &g.pods[i]
		role := roleOf(p)
		spec, _ := replicas[role].(map[string]any)
		if spec == nil {
			spec = map[string]any{"replicas": int64(0), "restartPolicy": "Never", "template": map[string]any{"spec": map[string]any{
				"containers": []any{map[string]any{"name": p.Spec.Containers[0].Name, "image": p.Spec.Containers[0].Image}},
			}}}
			replicas[role] = spec
		}
		spec["replicas"] = spec["replicas"].(int64) + 1
		end := endOf(p).UTC().Format(time.RFC3339)
		switch p.Status.Phase {
		case corev1.PodFailed:
			failed = append(failed, end)
		case corev1.PodSucceeded:
			succeeded = append(succeeded, end)
		case corev1.PodPending, corev1.PodRunning, corev1.PodUnknown: // it goes on
		}
	}
	condition := func(kind, status, at, why string) any {
		return map[string]any{"type": kind, "status": status, "lastTransitionTime": at, "lastUpdateTime": at, "reason": owner.Kind + kind, "message": fmt.Sprintf("%s %s %s", owner.Kind, owner.Name, why)}
	}
	conditions := []any{condition("Created", "True", start, "is created.")}
	switch {
	case len(failed) > 0:
		conditions = append(conditions, condition("Running", "False", slices.Min(failed), "is running."), condition("Failed", "True", slices.Min(failed), fmt.Sprintf("is failed because %d replica(s) failed.", len(failed))))
	case len(succeeded) == len(g.pods):
		conditions = append(conditions, condition("Running", "False", slices.Max(succeeded), "is running."), condition("Succeeded", "True", slices.Max(succeeded), "is successfully completed."))
	default:
		conditions = append(conditions, condition("Running", "True", start, "is running."))
	}
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec":   map[string]any{"runPolicy": map[string]any{"cleanPodPolicy": "None"}, replicaKeys[owner.Kind]: replicas},
		"status": map[string]any{"conditions": conditions, "startTime": start},
	}}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "kubeflow.org", Version: "v1", Kind: owner.Kind})
	u.SetName(owner.Name)
	u.SetNamespace(first.Namespace)
	u.SetUID(owner.UID)
	u.SetCreationTimestamp(first.CreationTimestamp)
	return u
}
