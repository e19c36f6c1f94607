package webhook

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestACertificateThatEndsIsSaidOnceADay(t *testing.T) {
	client := fake.NewClientset()
	at, text := time.Unix(0, 0), ""
	e := &expiry{
		announcer: announcer{client: client, log: logr.Discard(), now: func() time.Time { return at }},
		soon:      func() string { return text },
		about:     corev1.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: Namespace, Name: ServiceName},
	}
	for i, step := range []struct {
		later time.Duration
		text  string
		want  int
	}{
		{0, "", 0},
		{time.Hour, "the certificate of the webhook ends in 29 days", 1},
		{time.Hour, "the certificate of the webhook ends in 28 days", 1},
		{23 * time.Hour, "the certificate of the webhook ends in 27 days", 2},
		{time.Hour, "", 2},
		{time.Hour, "the CA of the webhook ends in 3 days", 3},
	} {
		at, text = at.Add(step.later), step.text
		e.look(t.Context())
		all, err := client.EventsV1().Events(Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(all.Items) != step.want {
			t.Errorf("step %d: %d Events; want %d", i, len(all.Items), step.want)
		}
		for _, event := range all.Items {
			if event.Reason != CertificateEndsSoon || event.Type != corev1.EventTypeWarning {
				t.Errorf("%+v", event)
			}
		}
	}
}
