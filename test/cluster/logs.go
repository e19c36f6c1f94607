package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
)

var logsKind = schema.GroupVersionResource{Group: "kwok.x-k8s.io", Version: "v1alpha1", Resource: "logs"}

// PodLogs makes the API server answer for a pod's log with the text of a file; an empty container means each
// that has no file of its own. The pod need not exist yet. A file that is not absolute lies below
// test/cluster/logs. It returns when the node answers with the new text.
//
// Lines may begin with a time (RFC 3339, as `kubectl logs --timestamps` prints it); others get the time of
// the line before, one millisecond later, and the first one now.
func (c *Cluster) PodLogs(ctx context.Context, namespace, pod, container, file string) error {
	return c.podLogs(ctx, namespace, pod, container, file, false)
}

// PreviousPodLogs is PodLogs for the container's life before its last restart: kubectl logs --previous.
func (c *Cluster) PreviousPodLogs(ctx context.Context, namespace, pod, container, file string) error {
	return c.podLogs(ctx, namespace, pod, container, file, true)
}

func (c *Cluster) podLogs(ctx context.Context, namespace, pod, container, file string, previous bool) error {
	if !c.has(Kwok) {
		return errors.New("set pod logs: this cluster has no kwok")
	}
	if !filepath.IsAbs(file) {
		root, err := repository()
		if err != nil {
			return err
		}
		file = filepath.Join(root, "test", "cluster", "logs", file)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("set logs of pod %s/%s: %w", namespace, pod, err)
	}
	field, suffix := "logsFile", "log"
	if previous {
		field, suffix = "previousLogsFile", "previous.log"
	}
	path := c.path("podlogs", fmt.Sprintf("%s_%s_%s.%s", namespace, pod, container, suffix))
	if err := os.WriteFile(path, criLog(content, time.Now()), 0o600); err != nil {
		return err
	}
	if err := c.putLogs(ctx, namespace, pod, container, field, path); err != nil {
		return fmt.Errorf("set logs of pod %s/%s: %w", namespace, pod, err)
	}
	return c.logsVisible(ctx, namespace, pod, container, previous, content)
}

// putLogs keeps what other containers, and the other life of this one, were given before.
func (c *Cluster) putLogs(ctx context.Context, namespace, pod, container, field, path string) error {
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		return err
	}
	all := client.Resource(logsKind).Namespace(namespace)
	return retry.OnError(retry.DefaultBackoff, conflicts, func() error {
		object, err := all.Get(ctx, pod, metav1.GetOptions{})
		missing := apierrors.IsNotFound(err)
		if missing {
			object = &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": logsKind.GroupVersion().String(), "kind": "Logs",
				"metadata": map[string]any{"name": pod, "namespace": namespace},
			}}
		} else if err != nil {
			return err
		}
		old, _, err := unstructured.NestedSlice(object.Object, "spec", "logs")
		if err != nil {
			return err
		}
		if err := unstructured.SetNestedSlice(object.Object, withLog(old, container, field, path), "spec", "logs"); err != nil {
			return err
		}
		if missing {
			_, err = all.Create(ctx, object, metav1.CreateOptions{})
		} else {
			_, err = all.Update(ctx, object, metav1.UpdateOptions{})
		}
		return err
	})
}

func conflicts(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }

// withLog sets one field of the entry for a container, which it adds when there is none.
func withLog(logs []any, container, field, path string) []any {
	for _, entry := range logs {
		entry, ok := entry.(map[string]any)
		if !ok {
			continue
		}
		names, _, _ := unstructured.NestedStringSlice(entry, "containers")
		if strings.Join(names, ",") == container {
			entry[field] = path
			return logs
		}
	}
	entry := map[string]any{field: path}
	if container != "" {
		entry["containers"] = []any{container}
	}
	return append(logs, entry)
}

// logsVisible asks the node itself, as the API server would: kwok learns of a Logs object a moment after us.
func (c *Cluster) logsVisible(ctx context.Context, namespace, pod, container string, previous bool, plain []byte) error {
	if container == "" {
		container = "any" // the entry without a name answers for every name
	}
	url := fmt.Sprintf("https://127.0.0.1:%d/containerLogs/%s/%s/%s?previous=%t", c.kwokPort, namespace, pod, container, previous)
	_, text := stampedLines(plain)
	want := []byte(strings.Join(text, ""))
	ctx, cancel := context.WithTimeout(ctx, c.options.Patience)
	defer cancel()
	return until(ctx, func(ctx context.Context) error {
		status, body, err := c.fetch(ctx, http.MethodGet, url)
		if err != nil {
			return err
		}
		if status != http.StatusOK || !bytes.Equal(body, want) {
			return fmt.Errorf("read log of pod %s/%s: %d bytes of %d, status %d", namespace, pod, len(body), len(want), status)
		}
		return nil
	})
}

// criLog is a plain log in the format of a container runtime, the only one kubelets read.
func criLog(plain []byte, now time.Time) []byte {
	var out bytes.Buffer
	stamps, text := stampedLines(plain)
	at := now
	for i, line := range text {
		if stamps[i].IsZero() {
			if i > 0 {
				at = at.Add(time.Millisecond)
			}
		} else {
			at = stamps[i]
		}
		fmt.Fprintf(&out, "%s stdout F %s", at.UTC().Format("2006-01-02T15:04:05.000000000Z"), line)
	}
	return out.Bytes()
}

// stampedLines takes the times off the lines that begin with one. Every line keeps its line feed.
func stampedLines(plain []byte) (stamps []time.Time, text []string) {
	for line := range strings.Lines(string(plain)) {
		line = strings.TrimSuffix(line, "\n") + "\n"
		var at time.Time
		if first, rest, ok := strings.Cut(line, " "); ok {
			if t, err := time.Parse(time.RFC3339Nano, first); err == nil {
				at, line = t, rest
			}
		}
		stamps, text = append(stamps, at), append(text, line)
	}
	return stamps, text
}

// followLogAnnotations gives every pod the log its annotations name, until ctx ends.
func (c *Cluster) followLogAnnotations(ctx context.Context) {
	factory := informers.NewSharedInformerFactory(c.clientset, 0)
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { c.annotatedLogs(ctx, nil, o) },
		UpdateFunc: func(old, o any) {
			before, _ := old.(*corev1.Pod)
			c.annotatedLogs(ctx, before, o)
		},
	})
	if err != nil {
		c.progressf("pods' log annotations are not followed: %v", err)
		return
	}
	factory.Start(ctx.Done())
	<-ctx.Done()
	factory.Shutdown()
}

func (c *Cluster) annotatedLogs(ctx context.Context, before *corev1.Pod, o any) {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	for key, previous := range map[string]bool{LogAnnotation: false, PreviousLogAnnotation: true} {
		file := pod.Annotations[key]
		if file == "" || before != nil && before.Annotations[key] == file {
			continue
		}
		file = strings.ReplaceAll(file, "{rank}", rankOf(pod.Labels, pod.Annotations))
		if err := c.podLogs(ctx, pod.Namespace, pod.Name, "", file, previous); err != nil && ctx.Err() == nil {
			c.progressf("%v", err)
		}
	}
}
