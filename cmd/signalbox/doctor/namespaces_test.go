package doctor

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/webhook"
)

func TestNamespacesAreListedWithTheirMode(t *testing.T) {
	mode := func(value string) map[string]string { return map[string]string{preflight.ModeLabel: value} }
	objects := []runtime.Object{
		namespaceOf("kube-system", map[string]string{corev1.LabelMetadataName: "kube-system"}), namespaceOf("ml", mode("enforce")),
		namespaceOf("old", mode("off")), namespaceOf("plain", nil), namespaceOf("slip", mode("enforced")), namespaceOf("test", mode("warn")),
	}
	for name, tc := range map[string]struct {
		more []runtime.Object
		want string
	}{
		"where the webhook is": {
			[]runtime.Object{webhook.Configuration(kinds.All()), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: webhook.Namespace, Name: "c", Labels: map[string]string{"app.kubernetes.io/part-of": "signalbox"}},
				Data:       map[string]string{"config.yaml": "webhook: {exclude: [test]}"},
			}},
			`NAMESPACE    MODE     BY
kube-system  -        left out by the webhook's namespaceSelector or webhook.exclude
ml           enforce  signalbox.dev/mode
old          off      signalbox.dev/mode
plain        warn     the default
slip         warn     signalbox.dev/mode=enforced is none of off, warn, enforce
test         -        left out by the webhook's namespaceSelector or webhook.exclude
`,
		},
		"where there is none": {nil, `signalbox: note: the cluster has no webhook of Signalbox, so no job is reviewed
NAMESPACE    MODE     BY
kube-system  warn     the default
ml           enforce  signalbox.dev/mode
old          off      signalbox.dev/mode
plain        warn     the default
slip         warn     signalbox.dev/mode=enforced is none of off, warn, enforce
test         warn     signalbox.dev/mode
`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &out, Err: &out}
			rows, err := namespaceRows(t.Context(), sh, fake.NewClientset(append(tc.more, objects...)...))
			if err == nil {
				err = renderNamespaces(sh, "text", rows)
			}
			if diff := cmp.Diff(tc.want, out.String()); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
