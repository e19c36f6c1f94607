package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes/fake"
)

// lasting is a certificate that does not end.
type lasting struct{ serving }

func (lasting) Start(ctx context.Context) error { <-ctx.Done(); return nil }
func (lasting) EndsSoon() string                { return "" }

// A replica that is told to end answers the calls that still come. What it has reviewed then is told to the others as well:
// else they would review it once more, and say of the job that it was admitted without a review.
func TestWhatIsReviewedWhileAReplicaEndsIsTold(t *testing.T) {
	certificate := signed(t, "webhook")
	synctest.Test(t, func(t *testing.T) {
		kube := fake.NewClientset()
		reviewed := NewReviewed(kube, Namespace, logr.Discard())
		p := pipes{make(chan net.Conn), make(chan struct{})}
		w := &Webhook{o: Options{Certificates: lasting{serving{certificate: certificate}}, Reviewed: reviewed, Log: logr.Discard()}, listener: p}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		ours, theirs := net.Pipe()
		p.ends <- theirs
		conn := tls.Client(ours, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
		if _, err := io.WriteString(conn, "POST /nowhere HTTP/1.1\r\nHost: webhook\r\nContent-Length: 4\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the call has come
		end()
		synctest.Wait() // whatever ends at once has ended
		reviewed.add(7, nil)
		if _, err := io.WriteString(conn, "body"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		_ = conn.Close()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		known, _, err := NewReviewed(kube, Namespace, logr.Discard()).others(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !known[7] {
			t.Errorf("the others know %v of what was reviewed while the replica ended", known)
		}
	})
}
