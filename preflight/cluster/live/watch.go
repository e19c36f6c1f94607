package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// A dynamic client goes through the text of a watch event ten times until it is an object: for where it ends, what it is,
// what is in it, whether that is a list, and twice for each of these, because a text is checked before it is read
// (k8s.io/client-go/rest, newStreamWatcher; k8s.io/apimachinery, streaming, json and unstructured serializers). Where hundreds
// of jobs are created in a second that is more than all their reviews. An API server writes one event in a line, of which the
// object is the rest.

// WatchObjects watches objects of a kind as a dynamic client would. A fake client is one. Managers of fields are decoded where
// wanted says so of those of an object that was created at a time; nil: always.
func WatchObjects(clients Clients, of schema.GroupVersionResource, wanted func(managers []byte, created string) bool) func(context.Context, metav1.ListOptions) (watch.Interface, error) {
	var api *rest.RESTClient
	if clients.Kube != nil {
		api, _ = clients.Kube.CoreV1().RESTClient().(*rest.RESTClient)
	}
	if api == nil {
		return clients.Dynamic.Resource(of).Watch
	}
	return func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		o.Watch = true
		path := []string{"/apis", of.Group, of.Version, of.Resource}
		if of.Group == "" {
			path = []string{"/api", of.Version, of.Resource}
		}
		ctx, stop := context.WithCancel(ctx)
		body, err := api.Get().AbsPath(path...).VersionedParams(&o, scheme.ParameterCodec).SetHeader("Accept", "application/json").Stream(ctx)
		if err != nil {
			stop()
			return nil, err
		}
		w := &objectWatch{events: make(chan watch.Event), stop: stop, done: ctx.Done(), wanted: wanted}
		go w.read(body)
		return w, nil
	}
}

// objectWatch is a watch whose events are lines.
type objectWatch struct {
	events chan watch.Event
	stop   context.CancelFunc
	done   <-chan struct{}
	wanted func(managers []byte, created string) bool
}

// ResultChan implements watch.Interface.
func (w *objectWatch) ResultChan() <-chan watch.Event { return w.events }

// Stop implements watch.Interface.
func (w *objectWatch) Stop() { w.stop() }

// read passes events on until there are no more. That a connection ends is no error: the watch is begun again.
func (w *objectWatch) read(body io.ReadCloser) {
	defer close(w.events)
	defer body.Close()
	in, long := bufio.NewReaderSize(body, 1<<16), []byte(nil)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, line...)
			continue
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		if err != nil && len(bytes.TrimSpace(line)) == 0 {
			return
		}
		event, wrong := w.event(line)
		if err != nil && wrong != nil {
			return // it was cut off
		}
		if wrong != nil {
			event = watch.Event{Type: watch.Error, Object: &metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: fmt.Sprintf("read a watch event: %v", wrong),
			}}
		}
		select {
		case w.events <- event:
		case <-w.done:
			return
		}
		if err != nil || wrong != nil {
			return
		}
		if long = long[:0]; cap(long) > mostLine {
			long = nil
		}
	}
}

// mostLine is the room for a long line that is kept for the next one.
const mostLine = 1 << 20

// event reads one event.
func (w *objectWatch) event(line []byte) (watch.Event, error) {
	if kind, object, ok := partsOf(line); ok {
		if w.wanted != nil {
			if without, ok := w.without(object); ok {
				return eventFrom(kind, without)
			}
		}
		if event, err := eventFrom(kind, object); err == nil {
			return event, nil
		}
	}
	var parts struct { // it was written in another way
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	if err := json.Unmarshal(line, &parts); err != nil {
		return watch.Event{}, err
	}
	return eventFrom(parts.Type, parts.Object)
}

// without is an object without its managers, where nothing looks at them; it is written over.
func (w *objectWatch) without(object []byte) (rest []byte, ok bool) {
	managers, created := managersOf(object)
	if managers == nil || w.wanted(managers, created) {
		return nil, false
	}
	return WithoutManagers(object), true
}

func eventFrom(kind string, object []byte) (watch.Event, error) {
	switch event := watch.EventType(kind); event {
	case watch.Added, watch.Modified, watch.Deleted, watch.Bookmark:
		u := &unstructured.Unstructured{}
		err := u.UnmarshalJSON(object)
		return watch.Event{Type: event, Object: u}, err
	case watch.Error:
		status := &metav1.Status{}
		err := json.Unmarshal(object, status)
		return watch.Event{Type: event, Object: status}, err
	}
	return watch.Event{}, fmt.Errorf("an event of type %q", kind)
}

// partsOf takes an event apart that is written as API servers write it: {"type":"ADDED","object":{…}}.
func partsOf(line []byte) (kind string, object []byte, ok bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(`{"type":"`))
	if !ok {
		return "", nil, false
	}
	name, rest, ok := bytes.Cut(rest, []byte(`","object":`))
	if !ok || !bytes.HasSuffix(rest, []byte("}")) || bytes.ContainsAny(name, `"\`) {
		return "", nil, false
	}
	return string(name), rest[:len(rest)-1], true
}

var _ watch.Interface = (*objectWatch)(nil)
