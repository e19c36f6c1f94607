//go:build integration

package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// rendered is a folder below config/ as make install would send it, with the chart's own image and with replacements.
func rendered(folder string, replace ...string) string {
	GinkgoHelper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join("..", "..", "config", folder))
	Expect(err).NotTo(HaveOccurred())
	text, err := built.AsYaml()
	Expect(err).NotTo(HaveOccurred())
	return strings.NewReplacer(append(replace, `image: ""`, "image: signalbox:0.1.0")...).Replace(string(text))
}

// said is what the API server answered to one write.
type said struct {
	err      error
	warnings []string
	audit    map[string]string // annotations of our webhook, without its name
	open     bool              // the API server noted that a webhook failed and was ignored
}

// warnings collects what kubectl would print.
type warnings struct {
	mu   sync.Mutex
	text []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}

// write creates the object, or updates it if it is stored already, and returns the answer.
func write(ctx context.Context, o *unstructured.Unstructured, dryRun ...string) said {
	GinkgoHelper()
	heard := &warnings{}
	config := rest.CopyConfig(plane.Config())
	config.WarningHandler = heard
	config.UserAgent = "spec-" + CurrentSpecReport().LeafNodeText
	client, err := dynamic.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	gvk := o.GroupVersionKind()
	resource := strings.ToLower(gvk.Kind) + "s"
	if k := kinds.For(gvk); k != nil {
		resource = k.Resource
	}
	api := client.Resource(gvk.GroupVersion().WithResource(resource)).Namespace(o.GetNamespace())
	var begin int64 // of what the audit log will say
	if log, err := os.Stat(auditLog); err == nil {
		begin = log.Size()
	}
	var out said
	verb := "create"
	if o.GetResourceVersion() == "" {
		var stored *unstructured.Unstructured
		if stored, out.err = api.Create(ctx, o, metav1.CreateOptions{DryRun: dryRun}); out.err == nil && len(dryRun) == 0 {
			o.Object = stored.Object
		}
	} else {
		verb = "update"
		_, out.err = api.Update(ctx, o, metav1.UpdateOptions{DryRun: dryRun})
	}
	out.warnings = heard.text
	var events []auditEvent
	Eventually(func() []auditEvent { events = audited(o, begin); return events }).Should(HaveLen(1))
	event := events[0]
	Expect(event.Verb).To(Equal(verb))
	for key, value := range event.Annotations {
		if name, ours := strings.CutPrefix(key, "validate.signalbox.dev/"); ours {
			if out.audit == nil {
				out.audit = map[string]string{}
			}
			out.audit[name] = value
		}
		out.open = out.open || strings.HasPrefix(key, "failed-open.validating.webhook.admission.k8s.io/")
	}
	return out
}

// auditEvent is the part of audit.k8s.io/v1 Event that the specs read.
type auditEvent struct {
	Verb        string                    `json:"verb"`
	User        struct{ Username string } `json:"user"`
	Annotations map[string]string         `json:"annotations"`
	ObjectRef   struct {
		Resource, Namespace, Name, Subresource string
	} `json:"objectRef"`
}

// audited are the writes of the object, or of all of its namespace where it has no name, in the audit log from a place on, oldest first.
func audited(o *unstructured.Unstructured, begin int64) []auditEvent {
	GinkgoHelper()
	log, err := os.Open(auditLog)
	if os.IsNotExist(err) {
		return nil
	}
	Expect(err).NotTo(HaveOccurred())
	defer log.Close()
	_, err = log.Seek(begin, io.SeekStart)
	Expect(err).NotTo(HaveOccurred())
	var out []auditEvent
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var e auditEvent
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue // the last line, half written
		}
		if e.ObjectRef.Namespace == o.GetNamespace() && (o.GetName() == "" || e.ObjectRef.Name == o.GetName()) && e.ObjectRef.Subresource == "" &&
			strings.HasPrefix(strings.ToLower(e.ObjectRef.Resource), strings.ToLower(o.GetKind())) {
			out = append(out, e)
		}
	}
	return out
}

// sample is a file of config/samples in a namespace, under a name of its own.
func sample(file, namespace, name string) *unstructured.Unstructured {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", file))
	Expect(err).NotTo(HaveOccurred())
	u := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal(text, &u.Object)).To(Succeed())
	u.SetNamespace(namespace)
	if name != "" { // a job may name its own pods, so its own name is best
		u.SetName(name)
	}
	return u
}

// starting are the lines that begin with a check's or policy's name in brackets.
func starting(lines []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !strings.HasPrefix(l, "["+name+"]") })
}
