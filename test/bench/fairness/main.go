// Command fairness measures what one user who sends jobs that are slow to review costs all others: reviews of
// theirs that are not whole, and how long they wait. Reviews are those of the webhook, with all checks, the fit
// and the policies; only the API server is missing.
//
//	make bench-fairness
//
// It judges nothing: a busy machine is slower. The promise is for two cores at rest: at five hostile jobs a
// second at most one of a hundred other reviews is not whole.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/webhook"
)

func main() {
	hostile := flag.Float64("hostile", 5, "hostile jobs a second, all of one user")
	others := flag.Float64("others", 40, "other jobs a second, of ten users")
	lasts := flag.Duration("for", 20*time.Second, "how long")
	nodes := flag.Int("nodes", 72, "nodes of the cluster")
	flag.Parse()
	if err := run(*hostile, *others, *lasts, *nodes); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// still is a view that does not change.
type still struct{ snapshot *cluster.Snapshot }

func (s still) Snapshot() *cluster.Snapshot      { return s.snapshot }
func (still) Namespace(string) map[string]string { return map[string]string{} }

func run(hostile, others float64, lasts time.Duration, nodes int) error {
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		return err
	}
	opa, err := policies.Load(policies.Library())
	if err != nil {
		return err
	}
	slow, err := os.ReadFile(filepath.Join("test", "integration", "testdata", "slow-fit.json"))
	if err != nil {
		return err
	}
	usual, err := os.ReadFile(filepath.Join("config", "samples", "pytorchjob.yaml"))
	if err != nil {
		return err
	}
	if usual, err = yaml.YAMLToJSON(usual); err != nil {
		return err
	}
	for _, rate := range []float64{0, hostile} {
		h := webhook.NewHandler(webhook.HandlerOptions{Reviewer: webhook.Stages(&preflight.Reviewer{Checks: set, Policies: opa}), View: still{idle(nodes)}})
		var all sync.WaitGroup
		var they, she answers
		all.Go(func() {
			send(h, rate, lasts, &she, func(int) admission.Request { return request("mallory", "JobSet", slow) })
		})
		all.Go(func() {
			send(h, others, lasts, &they, func(i int) admission.Request { return request(fmt.Sprint("user-", i%10), "PyTorchJob", usual) })
		})
		all.Wait()
		fmt.Printf("%g hostile jobs a second beside %g others:\n  others   %s\n", rate, others, &they)
		if rate > 0 {
			fmt.Printf("  hostile  %s\n", &she)
		}
	}
	return nil
}

// answers are what became of the reviews of one side.
type answers struct {
	mu    sync.Mutex
	took  []time.Duration
	lacks int // said what was not checked
	no    int // refused
}

func (a *answers) String() string {
	slices.Sort(a.took)
	at := func(q float64) time.Duration {
		if len(a.took) == 0 {
			return 0
		}
		return a.took[int(q*float64(len(a.took)-1))].Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("%d reviews, %d not whole (%.2f %%), %d refused; median %s, 99 %% %s, longest %s",
		len(a.took), a.lacks, 100*float64(a.lacks)/float64(max(len(a.took), 1)), a.no, at(.5), at(.99), at(1))
}

// send sends so many a second, whether or not those before have been answered.
func send(h *webhook.Handler, rate float64, lasts time.Duration, into *answers, next func(int) admission.Request) {
	if rate <= 0 {
		return
	}
	var open sync.WaitGroup
	defer open.Wait()
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer tick.Stop()
	for i := range int(rate * lasts.Seconds()) {
		<-tick.C
		open.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) // as long as the API server waits
			defer cancel()
			begun := time.Now()
			answer := h.Handle(ctx, next(i))
			into.mu.Lock()
			defer into.mu.Unlock()
			into.took = append(into.took, time.Since(begun))
			if slices.ContainsFunc(answer.Warnings, func(w string) bool { return strings.HasPrefix(w, "[signalbox] not checked") }) {
				into.lacks++
			}
			if !answer.Allowed {
				into.no++
			}
		})
	}
}

func request(user, kind string, object []byte) admission.Request {
	group, version := "kubeflow.org", "v1"
	if kind == "JobSet" {
		group, version = "jobset.x-k8s.io", "v1alpha2"
	}
	r := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Namespace: "of-" + user, Kind: metav1.GroupVersionKind{Group: group, Version: version, Kind: kind},
		Object: runtime.RawExtension{Raw: object},
	}}
	r.UserInfo.Username = user
	return r
}

// idle has nodes of eight GPUs in three zones, all idle.
func idle(nodes int) *cluster.Snapshot {
	var b cluster.Builder
	b.Complete(schema.GroupResource{Resource: "nodes"}, schema.GroupResource{Resource: "pods"})
	for i := range nodes {
		amounts := corev1.ResourceList{
			"cpu": resource.MustParse("96"), "memory": resource.MustParse("1Ti"), "pods": resource.MustParse("110"), "nvidia.com/gpu": resource.MustParse("8"),
		}
		b.Node(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%05d", i), Labels: map[string]string{
				corev1.LabelHostname: fmt.Sprintf("n%05d", i), corev1.LabelTopologyZone: fmt.Sprint("zone-", i%3), "nvidia.com/gpu.product": "H100",
			}},
			Status: corev1.NodeStatus{Allocatable: amounts, Capacity: amounts, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		})
	}
	return b.Snapshot(time.Time{})
}
