package webhook

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// announcer says what operators must not miss: in the log, and as an Event.
type announcer struct {
	client kubernetes.Interface // nil: the log only
	log    logr.Logger
	now    func() time.Time
}

// say writes about an object. Events about what has no namespace are in default (k8s.io/kubernetes,
// pkg/apis/core/validation/events.go).
func (a announcer) say(ctx context.Context, about corev1.ObjectReference, kind, reason, text string) {
	if kind == corev1.EventTypeWarning {
		a.log.Error(nil, text, "reason", reason)
	} else {
		a.log.Info(text, "reason", reason)
	}
	if a.client == nil {
		return
	}
	namespace := cmp.Or(about.Namespace, metav1.NamespaceDefault)
	at := a.now()
	bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := a.client.EventsV1().Events(namespace).Create(bounded, &eventsv1.Event{
		ObjectMeta:          metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s.%x", words.Stem(about.Name), at.UnixNano())},
		EventTime:           metav1.MicroTime{Time: at},
		ReportingController: "signalbox", ReportingInstance: "signalbox",
		Action: "Operate", Reason: reason, Type: kind, Note: clip(text+".", noteBytes),
		Regarding: about,
	}, metav1.CreateOptions{}); err != nil {
		a.log.Error(err, "write an Event", "kind", about.Kind, "name", about.Name)
	}
}
