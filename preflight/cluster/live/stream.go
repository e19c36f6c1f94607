package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// The first list of pods is most of what a start costs. Streamed as watch events it takes
// the API server and the reader twice the work of one list; read as one list it fills the
// memory with pods of which a tenth is kept. So the list is read as it comes, and of every
// pod what counts is kept before the next one is looked at.

// podLister lists pods that way.
type podLister struct {
	*cache.ListWatch // the plain way
	api              rest.Interface
	keep             cache.TransformFunc
}

// PodSource is where pods come from: as a stream where the client can, of which keep says what is kept of each pod (nil:
// nothing), but not the pod itself, which is overwritten; else as any other.
func PodSource(kube kubernetes.Interface, plain *cache.ListWatch, keep cache.TransformFunc) cache.ListerWatcher {
	api, ok := kube.CoreV1().RESTClient().(*rest.RESTClient)
	if !ok || api == nil { // a fake one has none
		return cache.ToListWatcherWithWatchListSemantics(plain, kube)
	}
	return &podLister{ListWatch: plain, api: api, keep: keep}
}

// IsWatchListSemanticsUnSupported tells the reflector to list first.
func (*podLister) IsWatchListSemanticsUnSupported() bool { return true }

// ListWithContext is the pods, reduced. A server that does not speak protobuf is asked again.
func (l *podLister) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	body, err := l.api.Get().Resource("pods").VersionedParams(&o, scheme.ParameterCodec).
		SetHeader("Accept", runtime.ContentTypeProtobuf).
		SetHeader("Accept-Encoding", "identity"). // compressing costs the server as much again
		Stream(ctx)
	if apierrors.IsNotAcceptable(err) {
		return l.ListWatch.ListWithContext(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	out, err := readPods(body, l.keep)
	if closed := body.Close(); err == nil && closed != nil {
		err = closed
	}
	switch {
	case errors.Is(err, errNotProtobuf):
		return l.ListWatch.ListWithContext(ctx, o)
	case err != nil:
		return nil, fmt.Errorf("read the list of pods: %w", err)
	}
	return out, nil
}

// heldPods is a list of pods of which only what counts was kept.
type heldPods struct {
	metav1.ListMeta
	Items []runtime.Object
}

// GetObjectKind is that of nothing: only the informer sees the list.
func (*heldPods) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject shares the pods, which are immutable.
func (l *heldPods) DeepCopyObject() runtime.Object { out := *l; return &out }

// GetObjectKind is that of nothing: only the informer sees the pod.
func (*heldPod) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject is the pod, which is immutable.
func (p *heldPod) DeepCopyObject() runtime.Object { return p }

// The form of a list as protobuf: four bytes, then a message runtime.Unknown, whose field
// "raw" is a message PodList
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding).
var (
	protobufMagic  = []byte("k8s\x00")
	errNotProtobuf = errors.New("this is not protobuf")
)

const (
	unknownRaw  = 2 // runtime.Unknown
	listMeta    = 1 // PodList
	listItem    = 2
	mostOfAPod  = 64 << 20 // bytes of one pod; etcd takes 1.5 MiB unless told otherwise
	lengthBound = 2        // the wire type of fields that begin with their length
)

// readPods reads a list of pods.
func readPods(body io.Reader, keep cache.TransformFunc) (*heldPods, error) {
	in := &wire{in: bufio.NewReaderSize(body, 1<<16), left: -1}
	if head, err := in.in.Peek(len(protobufMagic)); err != nil || !bytes.Equal(head, protobufMagic) {
		return nil, errNotProtobuf
	}
	_, _ = in.in.Discard(len(protobufMagic)) // it was peeked at
	out, seen := &heldPods{}, false
	for {
		field, size, err := in.next()
		switch {
		case errors.Is(err, io.EOF) && seen:
			return out, nil
		case errors.Is(err, io.EOF):
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case field == unknownRaw && seen:
			return nil, errors.New("a second list behind the first one")
		case field == unknownRaw:
			seen = true
			if err := out.read(&wire{in: in.in, left: size}, keep); err != nil {
				return nil, err
			}
		default:
			if err := in.skip(size); err != nil {
				return nil, err
			}
		}
	}
}

// read reads a message PodList to its end.
func (l *heldPods) read(in *wire, keep cache.TransformFunc) error {
	p := &corev1.Pod{} // one after the other: what is kept of a pod is not the pod
	for in.left > 0 {
		field, size, err := in.next()
		if err != nil {
			return whole(err)
		}
		if field != listItem && field != listMeta {
			if err := in.skip(size); err != nil {
				return err
			}
			continue
		}
		text, err := in.bytes(size)
		if err != nil {
			return err
		}
		if field == listMeta {
			if err := l.ListMeta.Unmarshal(text); err != nil {
				return err
			}
			continue
		}
		p.Reset()
		if err := p.Unmarshal(without(text, unread)); err != nil {
			return err
		}
		kept, err := keep(p)
		if err != nil {
			return err
		}
		if held, ok := kept.(runtime.Object); ok {
			l.Items = append(l.Items, held)
		}
	}
	return nil
}

// wire reads the fields of one message (https://protobuf.dev/programming-guides/encoding/).
type wire struct {
	in   *bufio.Reader
	left int64  // bytes of the message; -1: to the end of the stream
	own  []byte // the last field that was read
}

// next is the next field, which begins with its length. io.EOF: there is none.
func (w *wire) next() (field int, size int64, err error) {
	tag, err := w.number()
	if err != nil {
		return 0, 0, err
	}
	if kind := tag & 7; kind != lengthBound {
		return 0, 0, fmt.Errorf("a field of wire type %d; expected %d", kind, lengthBound)
	}
	n, err := w.number()
	if err != nil {
		return 0, 0, whole(err)
	}
	if n > 1<<62 || w.left >= 0 && int64(n) > w.left {
		return 0, 0, fmt.Errorf("a field of %d bytes where %d are left", n, w.left)
	}
	return int(tag >> 3), int64(n), nil
}

// number is a varint.
func (w *wire) number() (uint64, error) {
	var at counted
	n, err := binary.ReadUvarint(at.on(w.in))
	return n, w.took(at.n, err)
}

// bytes is a field; it is overwritten by the next one.
func (w *wire) bytes(n int64) ([]byte, error) {
	if n > mostOfAPod {
		return nil, fmt.Errorf("a pod of %d bytes; expected at most %d", n, mostOfAPod)
	}
	if int64(cap(w.own)) < n {
		w.own = make([]byte, n, 2*n)
	}
	w.own = w.own[:n]
	_, err := io.ReadFull(w.in, w.own)
	return w.own, w.took(n, whole(err))
}

func (w *wire) skip(n int64) error {
	_, err := io.CopyN(io.Discard, w.in, n)
	return w.took(n, whole(err))
}

// took counts what was read.
func (w *wire) took(n int64, err error) error {
	if err == nil && w.left >= 0 {
		if w.left -= n; w.left < 0 {
			return errors.New("a field ends behind its message")
		}
	}
	return err
}

// whole says of an end that something was missing.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// counted counts bytes.
type counted struct {
	in *bufio.Reader
	n  int64
}

func (c *counted) on(in *bufio.Reader) *counted { c.in = in; return c }

// ReadByte reads one.
func (c *counted) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}
