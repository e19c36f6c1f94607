package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/line"
	"github.com/signalbox-dev/signalbox/test/resident"
)

const (
	namespace = "bench"
	nodeCount = 32
	parallel  = 64
)

func nodeName(i int) string { return fmt.Sprintf("gpu-%d", i) }

var jobs = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"}

type world struct {
	*line.Line
	jobs dynamic.ResourceInterface
	log  *trainLog
}

func newWorld(ctx context.Context, l *line.Line, log *trainLog) (*world, error) {
	if err := l.InstallCRDs(ctx, cluster.TrainingOperator); err != nil {
		return nil, err
	}
	if err := l.CreateNamespace(ctx, namespace, nil); err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfig(l.Config())
	if err != nil {
		return nil, err
	}
	return &world{l, objects.Resource(jobs).Namespace(namespace), log}, nil
}

// gang runs a job, lets all its pods fail and measures from the word Failed to the annotation.
// It says what processor time that cost.
func (w *world) gang(ctx context.Context, name string, pods int) (took time.Duration, used map[string]time.Duration, err error) {
	job, err := w.start(ctx, name, pods)
	if err != nil {
		return 0, nil, err
	}
	watch, err := w.jobs.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		return 0, nil, err
	}
	defer watch.Stop()
	if err := w.log.fail(); err != nil {
		return 0, nil, err
	}
	before := cpu()
	if err := w.each(ctx, pods, func(ctx context.Context, rank int) error { return w.fail(ctx, name, rank) }); err != nil {
		return 0, nil, err
	}
	began := time.Now()
	if err := w.failed(ctx, job); err != nil {
		return 0, nil, err
	}
	deadline := time.NewTimer(2 * time.Minute)
	defer deadline.Stop()
	for {
		select {
		case e, open := <-watch.ResultChan():
			u, ok := e.Object.(*unstructured.Unstructured)
			if !open {
				return 0, nil, fmt.Errorf("watch job %s: the watch ended", name)
			}
			if ok && saysWhy(u) {
				return time.Since(began), since(before), w.remove(ctx, name)
			}
		case <-deadline.C:
			u, err := w.jobs.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return 0, nil, err
			}
			return 0, nil, fmt.Errorf("diagnose job %s: no cause after two minutes: annotations %v", name, u.GetAnnotations())
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		}
	}
}

// saysWhy says that the job is diagnosed, after its end, for the reason that the logs give. What was
// said before its operator gave it up does not count.
func saysWhy(u *unstructured.Unstructured) bool {
	said := u.GetAnnotations()["signalbox.dev/diagnosis"]
	return strings.Contains(said, `"category":"gpu-oom"`) && strings.Contains(said, fmt.Sprintf(`"state":"%d@`, kinds.Failed))
}

// shell measures `signalbox diagnose` of a job whose last rank failed, its time and the most memory that
// it had resident, in MiB.
func (w *world) shell(ctx context.Context, name string, pods int) (took time.Duration, memory float64, text string, err error) {
	if _, err := w.start(ctx, name, pods); err != nil {
		return 0, 0, "", err
	}
	if err := w.log.fail(); err != nil {
		return 0, 0, "", err
	}
	if err := w.fail(ctx, name, pods-1); err != nil {
		return 0, 0, "", err
	}
	began := time.Now()
	c := exec.CommandContext(ctx, filepath.Join(w.Root, "bin", "signalbox"), "diagnose", "pytorchjob/"+name, "-n", namespace)
	c.Env = append(os.Environ(), "KUBECONFIG="+w.Kubeconfig())
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		return 0, 0, "", fmt.Errorf("diagnose in a shell: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for tick := time.Tick(20 * time.Millisecond); ; {
		select {
		case <-tick: // what the kernel says of an ended child counts the parent that it was forked from
			memory = max(memory, resident.PeakOf(c.Process.Pid))
		case err := <-ended:
			if err != nil {
				return 0, 0, "", fmt.Errorf("diagnose in a shell: %w: %s", err, out.String())
			}
			return time.Since(began), memory, out.String(), nil
		}
	}
}

// start creates a job and its pods, and waits until all run.
func (w *world) start(ctx context.Context, name string, pods int) (*unstructured.Unstructured, error) {
	if err := w.log.train(); err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	text := fmt.Sprintf(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":%q,"namespace":%q},"spec":{"pytorchReplicaSpecs":{
		"Worker":{"replicas":%d,"restartPolicy":"Never","template":{"spec":{"containers":[{"name":"pytorch","image":"registry.example/train:1"}]}}}}}}`, name, namespace, pods)
	if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
		return nil, err
	}
	job, err := w.jobs.Create(ctx, u, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create job %s: %w", name, err)
	}
	if err := w.condition(ctx, job, "Running"); err != nil {
		return nil, err
	}
	if err := w.each(ctx, pods, func(ctx context.Context, rank int) error {
		_, err := w.Clientset().CoreV1().Pods(namespace).Create(ctx, podOf(job, rank), metav1.CreateOptions{})
		return err
	}); err != nil {
		return nil, fmt.Errorf("create pods of %s: %w", name, err)
	}
	for {
		list, err := w.Clientset().CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: jobLabel + "=" + name, ResourceVersion: "0"})
		if err != nil {
			return nil, err
		}
		running := 0
		for i := range list.Items {
			if list.Items[i].Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if running == pods {
			return job, nil
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

const jobLabel = "training.kubeflow.org/job-name"

func podName(job string, rank int) string { return fmt.Sprintf("%s-worker-%d", job, rank) }

func podOf(job *unstructured.Unstructured, rank int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: podName(job.GetName(), rank), Namespace: namespace,
			Labels: map[string]string{
				jobLabel: job.GetName(), "training.kubeflow.org/operator-name": "pytorchjob-controller",
				"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": fmt.Sprint(rank),
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: job.GetAPIVersion(), Kind: job.GetKind(), Name: job.GetName(), UID: job.GetUID(), Controller: new(true),
			}},
		},
		Spec: corev1.PodSpec{
			NodeName: nodeName(rank % nodeCount), RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "pytorch", Image: "registry.example/train:1"}},
		},
	}
}

// each does something for every rank, many at a time.
func (w *world) each(ctx context.Context, ranks int, do func(context.Context, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for rank := range ranks {
		g.Go(func() error { return do(ctx, rank) })
	}
	return g.Wait()
}

// fail ends a pod's container, as a kubelet would say it.
func (w *world) fail(ctx context.Context, job string, rank int) error {
	patch := fmt.Sprintf(`{"status":{"phase":"Failed","containerStatuses":[{"name":"pytorch","image":"registry.example/train:1","imageID":"","ready":false,"restartCount":0,
		"state":{"terminated":{"exitCode":1,"reason":"Error","finishedAt":%q}}}]}}`, time.Now().UTC().Format(time.RFC3339))
	_, err := w.Clientset().CoreV1().Pods(namespace).Patch(ctx, podName(job, rank), types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	return err
}

func (w *world) failed(ctx context.Context, job *unstructured.Unstructured) error {
	return w.condition(ctx, job, "Failed")
}

// condition is the operator's word.
func (w *world) condition(ctx context.Context, job *unstructured.Unstructured, kind string) error {
	now := time.Now().UTC().Format(time.RFC3339)
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":%q,"status":"True","reason":"PyTorchJob%s","lastTransitionTime":%q}],"replicaStatuses":{}}}`, kind, kind, now)
	_, err := w.jobs.Patch(ctx, job.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	return err
}

// remove takes the job and its pods away, so that the next round finds the same cluster.
func (w *world) remove(ctx context.Context, name string) error {
	if err := w.jobs.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return w.Clientset().CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}, metav1.ListOptions{LabelSelector: jobLabel + "=" + name})
}
