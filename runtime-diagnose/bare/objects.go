package bare

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// readObjects reads a stream of YAML or JSON objects and Lists; ok is false if there is no
// single object in it.
func readObjects(data []byte) (p Part, ok bool) {
	if pod := statePod(data); pod != nil {
		return Part{Pods: []corev1.Pod{*pod}}, true
	}
	if !bytes.Contains(data, []byte("kind")) {
		return p, false
	}
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return p, ok
		}
		if err != nil {
			return p, ok
		}
		var object map[string]any
		if yaml.Unmarshal(doc, &object) != nil {
			return Part{}, false
		}
		if kind, _ := object["kind"].(string); kind == "" {
			continue
		}
		ok = true
		p.add(object)
	}
}

func (p *Part) add(object map[string]any) {
	u := &unstructured.Unstructured{Object: object}
	if items, isList := object["items"].([]any); isList {
		for _, item := range items {
			if m, isMap := item.(map[string]any); isMap {
				p.addItem(u, m)
			}
		}
		return
	}
	redact.Names(object)
	switch u.GetAPIVersion() + "/" + u.GetKind() {
	case "v1/Pod":
		into(p, u, &p.Pods)
	case "v1/Event":
		into(p, u, &p.Events)
	case "v1/Node":
		into(p, u, &p.Nodes)
	case "events.k8s.io/v1/Event":
		var events []eventsv1.Event
		into(p, u, &events)
		for _, e := range events {
			p.Events = append(p.Events, coreEvent(e))
		}
	default:
		p.Objects = append(p.Objects, u)
	}
}

// addItem adds an item of a typed list, whose items may carry no kind of their own.
func (p *Part) addItem(list *unstructured.Unstructured, item map[string]any) {
	if kind, _ := item["kind"].(string); kind == "" {
		if of := list.GetKind(); len(of) > len("List") && of[len(of)-4:] == "List" {
			item["kind"], item["apiVersion"] = of[:len(of)-4], list.GetAPIVersion()
		}
	}
	p.add(item)
}

// into converts an object to its type; one that does not fit is kept as it is.
func into[T any](p *Part, u *unstructured.Unstructured, list *[]T) {
	var one T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &one); err != nil {
		p.Objects = append(p.Objects, u)
		p.Missing = append(p.Missing, fmt.Sprintf("%s %s: not readable as one: %v", u.GetKind(), u.GetName(), err))
		return
	}
	*list = append(*list, one)
}

func coreEvent(e eventsv1.Event) corev1.Event {
	out := corev1.Event{
		ObjectMeta: e.ObjectMeta, InvolvedObject: e.Regarding, Reason: e.Reason, Message: e.Note, Type: e.Type,
		EventTime: e.EventTime, FirstTimestamp: e.DeprecatedFirstTimestamp, LastTimestamp: e.DeprecatedLastTimestamp,
		Count: e.DeprecatedCount, Source: e.DeprecatedSource,
	}
	if e.Series != nil {
		out.Count, out.LastTimestamp.Time = e.Series.Count, e.Series.LastObservedTime.Time
	}
	return out
}

// statePod is a pod without a name around the state of a container that stands alone, as somebody cut it out of kubectl get
// -o yaml; nil: the text is no such state.
func statePod(data []byte) *corev1.Pod {
	head := bytes.TrimLeft(data, " \t\r\n")
	if !yamlState.Match(head) {
		return nil
	}
	data = bytes.TrimLeft(data, "\r\n")
	var status corev1.ContainerStatus
	if bytes.HasPrefix(head, []byte("- ")) {
		var all []corev1.ContainerStatus
		if yaml.Unmarshal(data, &all) != nil || len(all) == 0 {
			return nil
		}
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: all}}
	}
	if yaml.Unmarshal(data, &status) != nil {
		return nil
	}
	return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status}}}
}
