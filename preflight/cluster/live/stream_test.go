package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/test/build"
)

// somePods are pods as an API server has them.
func somePods(n int) *corev1.PodList {
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "42"}}
	for i := range n {
		p := build.Pod(fmt.Sprintf("p-%d", i), build.On("a"), build.Asks("1"), build.PodLabel("index", fmt.Sprint(i)))
		p.ResourceVersion = fmt.Sprint(i)
		p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PASSWORD", Value: strings.Repeat("hunter2", i)}}
		list.Items = append(list.Items, *p)
	}
	return list
}

// encoded is an object as the API server sends it.
func encoded(t testing.TB, o runtime.Object, as string) []byte {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), as)
	if !ok {
		t.Fatalf("%s is not known", as)
	}
	text, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAListOfPodsIsReadAsItComes(t *testing.T) {
	want := somePods(50)
	text := encoded(t, want, runtime.ContentTypeProtobuf)
	for name, in := range map[string]io.Reader{"at once": bytes.NewReader(text), "byte by byte": iotest.OneByteReader(bytes.NewReader(text))} {
		got, err := readPods(in, keepPods())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.ResourceVersion != "42" || len(got.Items) != len(want.Items) {
			t.Fatalf("%s: %d pods at version %s; want %d at 42", name, len(got.Items), got.ResourceVersion, len(want.Items))
		}
		keep := keepPods()
		for i := range want.Items {
			held, err := keep(&want.Items[i])
			if err != nil {
				t.Fatal(err)
			}
			if p, ok := got.Items[i].(*heldPod); !ok || !unchanged(held, p) {
				t.Errorf("%s: pod %d is another one", name, i)
			}
		}
	}
	text = encoded(t, somePods(3), runtime.ContentTypeProtobuf) // each end is one reading more
	for at := range len(text) {
		if _, err := readPods(bytes.NewReader(text[:at]), keepPods()); err == nil {
			// What follows the list are two fields of the envelope, which may be left out.
			if at < len(text)-4 {
				t.Errorf("a list that ends after %d of %d bytes is read as if it were whole", at, len(text))
			}
		}
	}
}

func TestAListThatIsNoneIsAnError(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"JSON":               {`{"kind":"PodList"}`, "this is not protobuf"},
		"nothing":            {"", "this is not protobuf"},
		"an envelope alone":  {"k8s\x00", "unexpected EOF"},
		"a number":           {"k8s\x00\x10\x01", "a field of wire type 0; expected 2"},
		"longer than itself": {"k8s\x00\x12\x02\x12\x7f", "a field of 127 bytes where 0 are left"},
		"a giant":            {"k8s\x00\x12\xff\xff\xff\xff\x7f\x12\xf0\xff\xff\xff\x0f", "a pod of 4294967280 bytes; expected at most 67108864"},
		"one byte too many":  {"k8s\x00\x12\xff\xff\xff\xff\x7f\x12\x81\x80\x80\x20", "a pod of 67108865 bytes; expected at most 67108864"},
		"no pod":             {"k8s\x00\x12\x03\x12\x01\x07", "proto: Pod: illegal tag 0 (wire type 7)"},
		"two lists":          {"k8s\x00\x12\x00\x12\x00", "a second list behind the first one"},
	} {
		if _, err := readPods(strings.NewReader(tc.text), keepPods()); err == nil || err.Error() != tc.want {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
}

func TestPodsAreListedFromWhateverTheServerSpeaks(t *testing.T) {
	answers := map[string]struct {
		binary, plain int // status
		cut           bool
		want          string
	}{
		"protobuf":             {200, 500, false, "20 pods at 42, 1 question"},
		"JSON only":            {406, 200, false, "20 pods at 42, 2 questions"},
		"JSON whatever we say": {0, 200, false, "20 pods at 42, 2 questions"},
		"refused":              {403, 200, false, "forbidden"},
		"cut in the middle":    {200, 200, true, "read the list of pods: unexpected EOF"},
	}
	for name, tc := range answers {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				binary := r.Header.Get("Accept") == runtime.ContentTypeProtobuf
				if r.URL.Path != "/api/v1/pods" || r.URL.Query().Get("resourceVersion") != "0" {
					t.Errorf("asked for %s", r.URL)
				}
				status, as := tc.plain, runtime.ContentTypeJSON
				if binary && tc.binary != 0 {
					status, as = tc.binary, runtime.ContentTypeProtobuf
				}
				w.Header().Set("Content-Type", as)
				if status != http.StatusOK {
					w.Header().Set("Content-Type", runtime.ContentTypeJSON)
					w.WriteHeader(status)
					reason := map[int]string{403: "Forbidden", 406: "NotAcceptable"}[status]
					_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"pods is forbidden"}`, reason, status)
					return
				}
				text := encoded(t, somePods(20), as)
				if tc.cut {
					text = text[:len(text)/2]
				}
				_, _ = w.Write(text)
			}))
			defer server.Close()
			kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			keep := keepPods()
			plain := &cache.ListWatch{ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return kube.CoreV1().Pods("").List(ctx, o)
			}}
			list, err := cache.ToListerWithContext(PodSource(kube, plain, keep)).ListWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
			got := ""
			switch l := list.(type) {
			case *heldPods:
				got = fmt.Sprintf("%d pods at %s, 1 question", len(l.Items), l.ResourceVersion)
			case *corev1.PodList:
				got = fmt.Sprintf("%d pods at %s, %d questions", len(l.Items), l.ResourceVersion, asked)
			}
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tc.want) {
				t.Errorf("the list is %q, want %q", got, tc.want)
			}
		})
	}
}

// What is left out of a pod is what is not looked at, and nothing else: the numbers of the fields are those that protobuf has.
func TestWhatNobodyLooksAtIsNotDecoded(t *testing.T) {
	container := corev1.Container{
		Name: "c", Image: "i", Command: []string{"x"}, Args: []string{"y"}, WorkingDir: "/w", Ports: []corev1.ContainerPort{{HostPort: 7, ContainerPort: 8}},
		EnvFrom: []corev1.EnvFromSource{{Prefix: "p"}}, Env: []corev1.EnvVar{{Name: "PASSWORD", Value: strings.Repeat("hunter2", 100)}},
		Resources:    corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("2")}, Limits: corev1.ResourceList{"cpu": resource.MustParse("3")}},
		VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}, VolumeDevices: []corev1.VolumeDevice{{Name: "d"}},
		LivenessProbe: &corev1.Probe{PeriodSeconds: 1}, ReadinessProbe: &corev1.Probe{PeriodSeconds: 2}, StartupProbe: &corev1.Probe{PeriodSeconds: 3},
		Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"z"}}}}, TerminationMessagePath: "/t",
		TerminationMessagePolicy: "File", ImagePullPolicy: "Always", SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
		Stdin: true, StdinOnce: true, TTY: true, RestartPolicy: new(corev1.ContainerRestartPolicyAlways), ResizePolicy: []corev1.ContainerResizePolicy{{ResourceName: "cpu"}},
	}
	p := build.Pod("p", build.On("a"), build.PodLabel("app", "x"))
	at := metav1.NewTime(build.Taken)
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", Time: &at, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}}
	p.Finalizers, p.Annotations, p.OwnerReferences = []string{"f"}, map[string]string{"a": "b"}, []metav1.OwnerReference{{Kind: "Job", Name: "j", Controller: new(true)}}
	p.Spec.Containers, p.Spec.InitContainers = []corev1.Container{container, *container.DeepCopy()}, []corev1.Container{*container.DeepCopy()}
	p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{TargetContainerName: "c", EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "e"}}}
	p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}}}}
	p.Spec.Tolerations, p.Spec.Priority = []corev1.Toleration{{Key: "k"}}, new(int32(7))
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: 3, Image: "i"}}
	whole, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, want := &corev1.Pod{}, p.DeepCopy()
	text := without(bytes.Clone(whole), unread)
	if err := got.Unmarshal(text); err != nil {
		t.Fatal(err)
	}
	want.TypeMeta, want.ManagedFields, want.Spec.EphemeralContainers = metav1.TypeMeta{}, nil, nil
	for _, list := range [][]corev1.Container{want.Spec.Containers, want.Spec.InitContainers} {
		for i := range list {
			c := &list[i]
			*c = corev1.Container{Name: c.Name, Ports: c.Ports, Resources: c.Resources, RestartPolicy: c.RestartPolicy, ResizePolicy: c.ResizePolicy, Stdin: true, StdinOnce: true, TTY: true}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is decoded (-want +got):\n%s", diff)
	}
	for at := range whole { // what is cut is an error, or protobuf takes it, too
		cut := bytes.Clone(whole[:at])
		if (&corev1.Pod{}).Unmarshal(without(cut, unread)) == nil && (&corev1.Pod{}).Unmarshal(whole[:at]) != nil {
			t.Errorf("a pod that ends after %d of %d bytes is taken for whole", at, len(whole))
		}
	}
}

// FuzzReadPods: whatever comes is a list or an error, and what protobuf's own reader takes
// for a list of pods is the same list here.
func FuzzReadPods(f *testing.F) {
	f.Add(encoded(f, somePods(3), runtime.ContentTypeProtobuf))
	f.Add(encoded(f, &corev1.PodList{}, runtime.ContentTypeProtobuf))
	f.Add(encoded(f, &corev1.NodeList{Items: []corev1.Node{*build.Node("a")}}, runtime.ContentTypeProtobuf))
	f.Add([]byte("k8s\x00\x12\x02\x12\x7f"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := readPods(bytes.NewReader(text), keepPods())
		if err != nil {
			if errors.Is(err, io.EOF) {
				t.Errorf("an end that says nothing: %v", err)
			}
			return
		}
		unknown := runtime.Unknown{}
		list := corev1.PodList{}
		if unknown.Unmarshal(text[len(protobufMagic):]) != nil || list.Unmarshal(unknown.Raw) != nil {
			return
		}
		var names, want []string
		for _, o := range got.Items {
			p := o.(*heldPod).pod
			names = append(names, p.Namespace()+"/"+p.Name())
		}
		for _, p := range list.Items {
			want = append(want, p.Namespace+"/"+p.Name)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("pods (-protobuf's reader +ours):\n%s", diff)
		}
	})
}
