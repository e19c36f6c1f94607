//go:build integration

package cluster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/test/cluster"
)

// The best of three: the bound is for the programs, not for whatever else the machine is doing.
func TestTheMachineryIsReadyWithinTenSeconds(t *testing.T) {
	best := time.Hour
	for range 3 {
		begun := time.Now()
		c, err := cluster.Start(t.Context(), cluster.Options{Parts: cluster.Machinery})
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(begun))
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
		if best <= 10*time.Second {
			return
		}
	}
	t.Errorf("Start took %s at best, want at most 10s", best)
}

func TestTheProgramsAreWhatTheySay(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{})
	version, err := c.Kubectl(t.Context(), "version", "-o", "yaml")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(version, "gitVersion: v1.36.3"); n != 2 {
		t.Errorf("kubectl version names v1.36.3 %d times, want client and server:\n%s", n, version)
	}
}

func TestTwoClustersRunSideBySide(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster.ForTest(t, cluster.Options{Parts: cluster.Machinery | cluster.TrainingOperator})
			if err := c.CreateNamespace(t.Context(), name, nil); err != nil {
				t.Fatal(err)
			}
			list, err := c.Clientset().CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var own []string
			for _, ns := range list.Items {
				if ns.Name == "first" || ns.Name == "second" {
					own = append(own, ns.Name)
				}
			}
			if diff := cmp.Diff([]string{name}, own); diff != "" {
				t.Errorf("namespaces (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStopLeavesNeitherProcessNorFolder(t *testing.T) {
	c, err := cluster.Start(t.Context(), cluster.Options{Parts: cluster.Machinery})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(processesIn(t, c.Dir())); got != 5 {
		t.Errorf("running: %d processes, want 5", got)
	}
	if err := c.Stop(); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if left := processesIn(t, c.Dir()); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := os.Stat(c.Dir()); !os.IsNotExist(err) {
		t.Errorf("folder %s: %v, want it gone", c.Dir(), err)
	}
}

func TestAFailureNamesTheLogAndKeepsIt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, err := cluster.Start(t.Context(), cluster.Options{ExtraArgs: map[string][]string{"kube-apiserver": {"--no-such-flag"}}})
	if err == nil {
		t.Fatal("Start with a bad flag: no error")
	}
	for _, want := range []string{"start kube-apiserver", "unknown flag: --no-such-flag", "logs/kube-apiserver.log", "logs are kept in"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
	kept, _ := filepath.Glob(filepath.Join(os.TempDir(), "signalbox-cluster-*", "logs", "etcd.log"))
	if len(kept) != 1 {
		t.Errorf("logs kept: %q, want etcd's", kept)
	}
	if left := processesIn(t, os.TempDir()); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAPartThatDiesIsReported(t *testing.T) {
	c, err := cluster.Start(t.Context(), cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for pid, command := range processesIn(t, c.Dir()) {
		if strings.Contains(command, "kube-apiserver") {
			kill(t, pid)
		}
	}
	select {
	case <-c.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("Done stays open")
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "kube-apiserver ended by itself (signal: killed)") {
		t.Errorf("Err: %v", err)
	}
	if err := c.Stop(); err == nil {
		t.Error("Stop: no error after a part died")
	}
	if err := os.RemoveAll(c.Dir()); err != nil {
		t.Error(err)
	}
}

func TestAServiceAccountMayWhatRBACSays(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{})
	path, err := c.KubeconfigFor(t.Context(), "default", "default")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Kubectl(t.Context(), "--kubeconfig", path, "get", "pods")
	if err == nil || !strings.Contains(err.Error(), `User "system:serviceaccount:default:default" cannot list resource "pods"`) {
		t.Errorf("get pods as default/default: %v, want it forbidden", err)
	}
}

// eventually fails the test with probe's last error.
func eventually(t *testing.T, probe func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		err := probe(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// podsLike are the pods with a label, once there are n of them in the wanted phase.
func podsLike(t *testing.T, c *cluster.Cluster, selector string, n int, phase corev1.PodPhase) []corev1.Pod {
	t.Helper()
	var found []corev1.Pod
	eventually(t, func(ctx context.Context) error {
		list, err := c.Clientset().CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return err
		}
		found = nil
		for _, pod := range list.Items {
			if pod.Status.Phase == phase {
				found = append(found, pod)
			}
		}
		if len(found) != n {
			return fmt.Errorf("%d pods with %s are %s, want %d", len(found), selector, phase, n)
		}
		return nil
	})
	return found
}
