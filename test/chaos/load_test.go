//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/webhook"
)

var pytorchJobs = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"}

// perSecond is how many jobs are created; one of five is too large.
const perSecond = 10

// load creates jobs in a namespace of its own that enforces: small ones, of which the review says one thing, and
// those that a policy denies.
type load struct {
	namespace string
	jobs      dynamic.ResourceInterface

	mu        sync.Mutex
	warned    map[string]bool // small jobs of which the review said it when they were created
	unsure    map[string]bool // jobs of which the API server did not say whether they were made
	refused   []string        // small jobs that were, and why
	denied    int
	before    float64 // jobs that were counted as passed by a policy
	elsewhere int     // jobs that a policy would have denied in other namespaces
	kills     int     // of replicas; each takes the record of its last second along
	whole     bool    // a replica was there to answer all the time: every job was reviewed when it came
	stop      context.CancelFunc
	all       sync.WaitGroup
}

// in is a load in another namespace that enforces; nothing is created there yet.
func (*load) in(ctx context.Context, namespace string) *load {
	GinkgoHelper()
	Expect(plane.CreateNamespace(ctx, namespace, map[string]string{preflight.ModeLabel: preflight.ModeEnforce, "signalbox.dev/llm": "enabled"})).To(Succeed())
	config := plane.Config()
	config.WarningHandlerWithContext, config.Timeout = heard{}, 10*time.Second
	objects, err := dynamic.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	return &load{namespace: namespace, warned: map[string]bool{}, unsure: map[string]bool{}, before: denials(), jobs: objects.Resource(pytorchJobs).Namespace(namespace)}
}

func begin(namespace string) *load {
	GinkgoHelper()
	ctx := context.Background()
	l := (*load)(nil).in(ctx, namespace)
	Eventually(func() error { // policies and the label of the namespace have arrived
		_, err := l.jobs.Create(ctx, l.job("probe", 8), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}).Should(MatchError(ContainSubstring("[max-gpus-per-job]")))
	run, stop := context.WithCancel(ctx)
	l.stop = stop
	DeferCleanup(stop)
	l.all.Go(func() {
		tick := time.NewTicker(time.Second / perSecond)
		defer tick.Stop()
		for i := 0; run.Err() == nil; i++ {
			l.all.Go(func() { l.create(ctx, i) })
			<-tick.C
		}
	})
	return l
}

// finding is what the review says of every small job.
const finding = "[memory-missing-beside-gpus]"

// heard notes in the context of a request that the finding was said.
type heard struct{}

type heardKey struct{}

func (heard) HandleWarningHeaderWithContext(ctx context.Context, _ int, _, text string) {
	if said, ok := ctx.Value(heardKey{}).(*atomic.Bool); ok && strings.Contains(text, finding) {
		said.Store(true)
	}
}

func (l *load) create(ctx context.Context, i int) {
	name, pods := fmt.Sprintf("small-%d", i), 2
	if i%5 == 0 {
		name, pods = fmt.Sprintf("large-%d", i), 8
	}
	said := &atomic.Bool{}
	_, err := l.jobs.Create(context.WithValue(ctx, heardKey{}, said), l.job(name, pods), metav1.CreateOptions{})
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.warned[name] = said.Load()
	case refusal(err):
		if l.denied++; pods != 8 || !strings.Contains(err.Error(), "[max-gpus-per-job]") {
			l.refused = append(l.refused, name+": "+err.Error())
		}
	default:
		l.unsure[name] = true
	}
}

// note keeps why a small job was refused, where it was.
func (l *load) note(err error) {
	if refusal(err) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refused = append(l.refused, err.Error())
	}
}

// refusal says whether the API server answered, and refused.
func refusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || strings.Contains(err.Error(), "denied the request")
}

// job is one of a Worker with so many pods of one GPU.
func (l *load) job(name string, pods int) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(fmt.Appendf(nil, `
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: %s, namespace: %s}
spec: {pytorchReplicaSpecs: {Worker: {replicas: %d, restartPolicy: Never, template: {spec: {containers: [
  {name: pytorch, image: "registry.example.com/t:1", resources: {limits: {nvidia.com/gpu: "1"}}}]}}}}}
`, name, l.namespace, pods), &u.Object); err != nil {
		panic(err) //nolint:forbidigo // the text is written above
	}
	return u
}

// fail makes a job with a pod whose container ended, as an operator and a kubelet write it.
func (l *load) fail(ctx context.Context, name string) {
	GinkgoHelper()
	var job *unstructured.Unstructured
	Eventually(func() (err error) {
		job, err = l.jobs.Create(ctx, l.job(name, 1), metav1.CreateOptions{})
		return err
	}).Should(Succeed())
	pods := plane.Clientset().CoreV1().Pods(l.namespace)
	var pod *corev1.Pod
	Eventually(func() (err error) {
		pod, err = pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: name + "-worker-0", Labels: map[string]string{
					"training.kubeflow.org/job-name": name, "training.kubeflow.org/operator-name": "pytorchjob-controller",
					"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "0",
				},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: job.GetAPIVersion(), Kind: job.GetKind(), Name: name, UID: job.GetUID(), Controller: new(true)}},
			},
			Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "pytorch", Image: "registry.example.com/t:1"}}},
		}, metav1.CreateOptions{})
		return err
	}).Should(Succeed())
	pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "pytorch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", FinishedAt: metav1.Now()}},
	}}}
	Eventually(func() error {
		_, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		return err
	}).Should(Succeed())
	Eventually(func() error {
		u, err := l.jobs.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		u.Object["status"] = map[string]any{"conditions": []any{map[string]any{
			"type": "Failed", "status": "True", "reason": "PyTorchJobFailed", "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}}, "replicaStatuses": map[string]any{}}
		_, err = l.jobs.UpdateStatus(ctx, u, metav1.UpdateOptions{})
		return err
	}).Should(Succeed())
}

// end stops creating and holds what became of the jobs against what is promised, within a minute.
func (l *load) end(ctx context.Context) {
	GinkgoHelper()
	l.stop()
	l.all.Wait()
	begun := time.Now()
	Expect(l.refused).To(BeEmpty(), "jobs that were refused and would have been admitted")
	Expect(l.denied).NotTo(BeZero(), "no job was ever denied: nothing was enforced")
	var late, small, lost int
	Eventually(func(g Gomega) {
		late, small, lost = 0, 0, 0
		all, err := l.jobs.List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		for _, u := range all.Items {
			note := u.GetAnnotations()[webhook.ReviewAnnotation]
			switch {
			case strings.HasPrefix(u.GetName(), "large-"):
				late++
				g.Expect(note).To(HavePrefix("It was admitted without a whole review; it would have been denied by max-gpus-per-job:"), u.GetName())
			case strings.HasPrefix(u.GetName(), "failed-"):
				g.Expect(u.GetAnnotations()).To(HaveKeyWithValue("signalbox.dev/healthy", "No"), u.GetName())
				g.Expect(u.GetAnnotations()).To(HaveKey("signalbox.dev/error"), u.GetName())
			case note == "" && (l.warned[u.GetName()] || l.unsure[u.GetName()]): // it was reviewed, and perhaps nobody was left to hear it
			default:
				// Nobody heard what was found, or whoever heard it is the only one who knows: a replica that is killed
				// takes the record of its last second along.
				if small++; l.warned[u.GetName()] {
					lost++
				}
				g.Expect(note).To(And(HavePrefix("It was admitted without a whole review:"), ContainSubstring(finding)), u.GetName())
			}
		}
		said := map[string]int{}
		events, err := plane.Clientset().EventsV1().Events(l.namespace).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		for _, e := range events.Items {
			ours := e.Reason == webhook.ReviewedLate || e.Reason == webhook.WouldHaveBeenDenied
			if ours && !strings.HasPrefix(e.Regarding.Name, "failed-") {
				said[e.Regarding.Name]++
			}
		}
		g.Expect(said).To(HaveLen(late + small))
		g.Expect(denials()-l.before).To(BeEquivalentTo(late+l.elsewhere), "what the metric counts as passed by a policy")
		for name, n := range said {
			g.Expect(n).To(Equal(1), "Events on "+name)
		}
	}).WithTimeout(afterwards).WithPolling(time.Second).Should(Succeed())
	// A second, and the one in which it was written last.
	Expect(lost).To(BeNumerically("<=", 2*perSecond*l.kills), "jobs whose review was heard and is not known any more")
	if l.whole {
		Expect(late+small).To(BeZero(), "jobs that were admitted without a whole review")
	}
	AddReportEntry("jobs", fmt.Sprintf("%d denied; %d that would have been and %d others reviewed late, all within %s of the end; %d not answered by the API server; %d reviews lost with %d replicas",
		l.denied, late, small, time.Since(begun).Round(time.Second), len(l.unsure), lost, l.kills))
}

// denials is what the metric of all replicas says of jobs that a policy would have denied.
func denials() (n float64) {
	for _, r := range replicas {
		n += r.denials()
	}
	return n
}

// policyMap is the installation's ConfigMap of policies.
func policyMap(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "limits", Namespace: "signalbox-system", Labels: map[string]string{webhook.PolicyLabel: "true"}},
		Data:       map[string]string{"limits.yaml": text},
	}
}
