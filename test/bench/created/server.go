package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// standIn answers what Signalbox asks an API server for: what is served, lists, watches, and the few objects that it writes
// itself. Nothing is stored in etcd and no other client is served, so that the processors are Signalbox' own.
type standIn struct {
	resources map[string][]resource // by group and version
	lists     map[string]listing    // by path
	changed   func(job map[string]any)

	mu       sync.Mutex
	version  int64
	objects  map[string]map[string]any // by path
	watchers map[string]map[chan []byte]bool
	asked    map[string]int // by method and kind of path
}

// resource is one that is served.
type resource struct{ kind, plural string }

// listing is a list as it is sent.
type listing struct {
	contentType string
	body        []byte
}

const jobsPath = "/apis/kubeflow.org/v1/pytorchjobs"

// newStandIn serves these objects.
func newStandIn(all ...runtime.Object) (*standIn, error) {
	s := &standIn{
		version: 1000, objects: map[string]map[string]any{}, watchers: map[string]map[chan []byte]bool{}, lists: map[string]listing{}, asked: map[string]int{},
		resources: map[string][]resource{
			"v1": {
				{"Node", "nodes"},
				{"Pod", "pods"},
				{"Namespace", "namespaces"},
				{"PersistentVolumeClaim", "persistentvolumeclaims"},
				{"PersistentVolume", "persistentvolumes"},
				{"ResourceQuota", "resourcequotas"},
				{"LimitRange", "limitranges"},
				{"ServiceAccount", "serviceaccounts"},
				{"ConfigMap", "configmaps"},
				{"Event", "events"},
			},
			"storage.k8s.io/v1":               {{"StorageClass", "storageclasses"}, {"CSIDriver", "csidrivers"}, {"CSINode", "csinodes"}, {"VolumeAttachment", "volumeattachments"}},
			"scheduling.k8s.io/v1":            {{"PriorityClass", "priorityclasses"}},
			"admissionregistration.k8s.io/v1": {{"ValidatingWebhookConfiguration", "validatingwebhookconfigurations"}},
			"kubeflow.org/v1":                 {{"PyTorchJob", "pytorchjobs"}},
			"batch/v1":                        {{"Job", "jobs"}},
		},
	}
	binary, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	for _, list := range all {
		path, encoder, contentType := "", scheme.Codecs.EncoderForVersion(binary.Serializer, corev1.SchemeGroupVersion), runtime.ContentTypeProtobuf
		switch list.(type) {
		case *corev1.NodeList:
			path = "/api/v1/nodes"
		case *corev1.PodList:
			path = "/api/v1/pods"
		case *corev1.NamespaceList:
			path = "/api/v1/namespaces"
		case *corev1.PersistentVolumeClaimList: // Signalbox reads these as they are written
			path, encoder, contentType = "/api/v1/persistentvolumeclaims", scheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion), runtime.ContentTypeJSON
		case *corev1.PersistentVolumeList:
			path, encoder, contentType = "/api/v1/persistentvolumes", scheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion), runtime.ContentTypeJSON
		}
		body, err := runtime.Encode(encoder, list)
		if err != nil {
			return nil, err
		}
		s.lists[path] = listing{contentType, body}
	}
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/version":
		reply(w, http.StatusOK, map[string]any{"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
	case r.URL.Path == "/api":
		reply(w, http.StatusOK, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
	case r.URL.Path == "/apis":
		s.groups(w)
	case parts[0] == "api" && len(parts) == 2:
		s.served(w, parts[1])
	case parts[0] == "apis" && len(parts) == 3:
		s.served(w, parts[1]+"/"+parts[2])
	case parts[0] == "api" && len(parts) > 2:
		s.resource(w, r, parts[1], parts[2:])
	case parts[0] == "apis" && len(parts) > 3:
		s.resource(w, r, parts[1]+"/"+parts[2], parts[3:])
	default:
		status(w, http.StatusNotFound, "NotFound")
	}
}

func (s *standIn) groups(w http.ResponseWriter) {
	var groups []any
	for gv := range s.resources {
		group, version, ok := strings.Cut(gv, "/")
		if !ok {
			continue
		}
		one := map[string]any{"groupVersion": gv, "version": version}
		groups = append(groups, map[string]any{"name": group, "versions": []any{one}, "preferredVersion": one})
	}
	reply(w, http.StatusOK, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

func (s *standIn) served(w http.ResponseWriter, gv string) {
	of, ok := s.resources[gv]
	if !ok {
		status(w, http.StatusNotFound, "NotFound")
		return
	}
	var all []any
	for _, r := range of {
		namespaced := r.kind != "Node" && r.kind != "Namespace" && r.kind != "PersistentVolume" && !strings.HasPrefix(gv, "storage") && !strings.HasPrefix(gv, "scheduling") && !strings.HasPrefix(gv, "admission")
		all = append(all, map[string]any{"name": r.plural, "kind": r.kind, "namespaced": namespaced, "verbs": []string{"get", "list", "watch", "create", "patch", "update", "delete"}})
	}
	reply(w, http.StatusOK, map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": gv, "resources": all})
}

// resource answers about objects.
func (s *standIn) resource(w http.ResponseWriter, r *http.Request, gv string, rest []string) {
	plural, name := rest[0], ""
	if rest[0] == "namespaces" && len(rest) > 2 {
		plural = rest[2]
		if len(rest) > 3 {
			name = rest[3]
		}
	} else if len(rest) > 1 {
		name = rest[1]
	}
	s.mu.Lock()
	s.asked[r.Method+" "+plural]++
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodGet && name != "":
		s.mu.Lock()
		o, ok := s.objects[r.URL.Path]
		s.mu.Unlock()
		if !ok {
			status(w, http.StatusNotFound, "NotFound")
			return
		}
		reply(w, http.StatusOK, o)
	case r.Method == http.MethodGet && r.URL.Query().Get("sendInitialEvents") != "":
		status(w, http.StatusUnprocessableEntity, "Invalid") // lists are asked for by themselves
	case r.Method == http.MethodGet && r.URL.Query().Get("watch") != "":
		s.watch(w, r)
	case r.Method == http.MethodGet:
		s.list(w, r, gv, plural)
	case r.Method == http.MethodPatch:
		s.patch(w, r)
	case r.Method == http.MethodPost && plural == "configmaps":
		s.keep(r.URL.Path+"/signalbox-reviews", map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{
			"name": "signalbox-reviews", "namespace": "signalbox-system", "uid": "5d3c3c0e-0b0f-4a52-9c53-000000000000", "creationTimestamp": time.Now().UTC().Format(time.RFC3339),
		}})
		s.echo(w, r)
	case r.Method == http.MethodPost:
		s.echo(w, r)
	default:
		status(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

// echo answers with what was sent.
func (s *standIn) echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(body)
}

func (s *standIn) list(w http.ResponseWriter, r *http.Request, gv, plural string) {
	if whole, ok := s.lists[r.URL.Path]; ok {
		w.Header().Set("Content-Type", whole.contentType)
		_, _ = w.Write(whole.body)
		return
	}
	kind := ""
	for _, known := range s.resources[gv] {
		if known.plural == plural {
			kind = known.kind
		}
	}
	if kind == "" {
		status(w, http.StatusNotFound, "NotFound")
		return
	}
	items := []any{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == jobsPath {
		for path, o := range s.objects {
			if strings.Contains(path, "/pytorchjobs/") {
				items = append(items, o)
			}
		}
	}
	reply(w, http.StatusOK, map[string]any{"kind": kind + "List", "apiVersion": gv, "metadata": map[string]any{"resourceVersion": strconv.FormatInt(s.version, 10)}, "items": items})
}

// watch sends what changes until the client goes.
func (s *standIn) watch(w http.ResponseWriter, r *http.Request) {
	events := make(chan []byte, 1<<16)
	s.mu.Lock()
	if s.watchers[r.URL.Path] == nil {
		s.watchers[r.URL.Path] = map[chan []byte]bool{}
	}
	s.watchers[r.URL.Path][events] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers[r.URL.Path], events)
	}()
	w.Header().Set("Content-Type", "application/json")
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case event := <-events:
			if _, err := w.Write(event); err != nil {
				return
			}
			_ = flush.Flush()
		}
	}
}

// store keeps a job and tells the watches.
func (s *standIn) store(event string, job map[string]any) error {
	metadata := job["metadata"].(map[string]any)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	metadata["resourceVersion"] = strconv.FormatInt(s.version, 10)
	text, err := json.Marshal(struct { // as k8s.io/apimachinery, meta/v1, WatchEvent
		Type   string         `json:"type"`
		Object map[string]any `json:"object"`
	}{event, job})
	if err != nil {
		return err
	}
	s.objects[fmt.Sprintf("/apis/kubeflow.org/v1/namespaces/%v/pytorchjobs/%v", metadata["namespace"], metadata["name"])] = job
	for to := range s.watchers[jobsPath] {
		to <- append(text, '\n')
	}
	return nil
}

func (s *standIn) keep(path string, object map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[path] = object
}

// patch merges what is sent into an object; of a job it asks the webhook, as an API server does.
func (s *standIn) patch(w http.ResponseWriter, r *http.Request) {
	var change map[string]any
	if err := json.NewDecoder(r.Body).Decode(&change); err != nil {
		status(w, http.StatusBadRequest, "BadRequest")
		return
	}
	s.mu.Lock()
	before, ok := s.objects[r.URL.Path]
	s.mu.Unlock()
	if !ok {
		status(w, http.StatusNotFound, "NotFound")
		return
	}
	after := merged(before, change)
	if strings.Contains(r.URL.Path, "/pytorchjobs/") {
		if s.changed != nil {
			s.changed(after)
		}
		if err := s.store("MODIFIED", after); err != nil {
			status(w, http.StatusInternalServerError, "InternalError")
			return
		}
	} else {
		s.keep(r.URL.Path, after)
	}
	reply(w, http.StatusOK, after)
}

// merged is an object with a merge patch (https://www.rfc-editor.org/rfc/rfc7386).
func merged(object, change map[string]any) map[string]any {
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range change {
		inner, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(out, key)
		case isMap:
			of, _ := out[key].(map[string]any)
			out[key] = merged(of, inner)
		default:
			out[key] = value
		}
	}
	return out
}

// reply writes JSON; the client may have gone.
func reply(w http.ResponseWriter, code int, what any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(what)
}

func status(w http.ResponseWriter, code int, reason string) {
	reply(w, code, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": reason, "code": code})
}
