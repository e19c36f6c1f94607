//go:build chaos

package chaos

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var _ = Describe("Jobs are created beside", Ordered, ContinueOnFailure, func() {
	It("10,000 Events a second", under("events", func(ctx context.Context, l *load) {
		const each, seconds = 100, 6
		begun := time.Now()
		tick := time.NewTicker(time.Second / each)
		defer tick.Stop()
		var all sync.WaitGroup
		for i := range seconds * 10_000 / each {
			all.Go(func() {
				defer GinkgoRecover()
				putEvents(ctx, l.namespace, i*each, each)
			})
			<-tick.C
		}
		all.Wait()
		took := time.Since(begun)
		l.fail(ctx, "failed-in-it")
		AddReportEntry("Events a second", fmt.Sprintf("%.0f", float64(seconds*10_000)/took.Seconds()))
		other := l.in(ctx, "chaos-beside-events") // no other's diagnosis waits for a namespace with that many
		other.fail(ctx, "failed-elsewhere")
		Eventually(func() (string, error) {
			u, err := other.jobs.Get(ctx, "failed-elsewhere", metav1.GetOptions{})
			return u.GetAnnotations()["signalbox.dev/healthy"], err
		}).WithTimeout(20 * time.Second).Should(Equal("No"))
	}))

	It("a hot loop of updates on one job", under("hot-loop", func(ctx context.Context, l *load) {
		said := &atomic.Bool{}
		_, err := l.jobs.Create(context.WithValue(ctx, heardKey{}, said), l.job("hot", 2), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		l.mu.Lock()
		l.warned["hot"] = said.Load()
		l.mu.Unlock()
		run, stop := context.WithTimeout(ctx, 10*time.Second)
		defer stop()
		var all sync.WaitGroup
		var updates atomic.Int64
		for i := range 4 {
			all.Go(func() {
				for n := 0; run.Err() == nil; n++ {
					// Labels are reviewed anew; the number of pods is, too.
					patch := fmt.Sprintf(`{"metadata":{"labels":{"turn":"%d-%d"}},"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":%d}}}}`, i, n, 1+n%2)
					if _, err := l.jobs.Patch(ctx, "hot", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
						l.note(err)
					} else {
						updates.Add(1)
					}
				}
			})
		}
		l.fail(ctx, "failed-in-it")
		all.Wait()
		AddReportEntry("updates a second", updates.Load()/10)
	}))

	It("a namespace that is deleted with 1,000 jobs", under("deleted", func(ctx context.Context, l *load) {
		other := l.in(ctx, "chaos-gone")
		var all sync.WaitGroup
		var next atomic.Int64
		for range 8 {
			all.Go(func() {
				for i := next.Add(1); i <= 1000; i = next.Add(1) {
					if _, err := other.jobs.Create(ctx, other.job(fmt.Sprintf("small-%d", i), 2), metav1.CreateOptions{}); err != nil {
						l.note(err)
					}
				}
			})
		}
		all.Wait()
		list, err := other.jobs.List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(list.Items).To(HaveLen(1000))
		for i := range 10 { // and some are diagnosed just then
			other.fail(ctx, fmt.Sprintf("failed-%d", i))
		}
		all.Go(func() {
			defer GinkgoRecover()
			l.fail(ctx, "failed-in-it")
		})
		other.delete(ctx)
		all.Wait()
		Eventually(func() (int, error) {
			list, err := other.jobs.List(ctx, metav1.ListOptions{})
			return len(list.Items), err
		}).Should(BeZero())
	}))
})

// delete does to the namespace what its controller does, which does not run here: everything in it is deleted, and then it.
func (l *load) delete(ctx context.Context) {
	GinkgoHelper()
	kube := plane.Clientset()
	Expect(kube.CoreV1().Namespaces().Delete(ctx, l.namespace, metav1.DeleteOptions{})).To(Succeed())
	now, every := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}, metav1.ListOptions{}
	Eventually(func() error { return l.jobs.DeleteCollection(ctx, now, every) }).Should(Succeed()) // a thousand take longer than a client waits
	Expect(kube.CoreV1().Pods(l.namespace).DeleteCollection(ctx, now, every)).To(Succeed())
	Expect(kube.CoreV1().ConfigMaps(l.namespace).DeleteCollection(ctx, now, every)).To(Succeed())
	Expect(kube.CoreV1().Events(l.namespace).DeleteCollection(ctx, now, every)).To(Succeed())
	namespace, err := kube.CoreV1().Namespaces().Get(ctx, l.namespace, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	namespace.Spec.Finalizers = nil
	_, err = kube.CoreV1().Namespaces().Finalize(ctx, namespace, metav1.UpdateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// putEvents puts Events straight into etcd, which takes them faster than the API server takes requests; it tells
// whoever watches them as of any other (keys and values: k8s.io/apiserver, pkg/storage/etcd3/store.go; the JSON of
// transactions: https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/).
func putEvents(ctx context.Context, namespace string, from, n int) {
	type put struct {
		Key   []byte `json:"key"`
		Value []byte `json:"value"`
	}
	type request struct {
		RequestPut put `json:"requestPut"`
	}
	var all []request
	for i := from; i < from+n; i++ {
		name := fmt.Sprintf("flood.%d", i)
		now := metav1.Now()
		text, err := json.Marshal(corev1.Event{
			TypeMeta:       metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
			ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", i)), CreationTimestamp: now},
			InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: namespace, Name: fmt.Sprintf("failed-before-worker-%d", i%50)},
			Reason:         "Unhealthy", Message: fmt.Sprintf("Readiness probe failed for the %dth time", i), Type: corev1.EventTypeWarning,
			FirstTimestamp: now, LastTimestamp: now, Count: 1,
		})
		if err != nil {
			panic(err) //nolint:forbidigo // a value of the line above
		}
		all = append(all, request{put{[]byte("/registry/events/" + namespace + "/" + name), text}})
	}
	text, err := json.Marshal(map[string]any{"success": all})
	if err != nil {
		panic(err) //nolint:forbidigo // so are these
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, plane.Etcd()+"/v3/kv/txn", bytes.NewReader(text))
	Expect(err).NotTo(HaveOccurred())
	answer, err := etcdClient.Do(post)
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	Expect(answer.StatusCode).To(Equal(http.StatusOK))
}

var etcdClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // on loopback, of this test
