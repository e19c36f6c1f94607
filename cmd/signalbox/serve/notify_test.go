package serve

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/config"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

// From the settings to somebody's server: the address comes from a file, and the first answer is a fault.
func TestNotificationsArrive(t *testing.T) {
	bodies, answers := make(chan string, 2), make(chan int, 2)
	answers <- http.StatusBadGateway
	answers <- http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(<-answers)
		bodies <- string(body)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "slack")
	if err := os.WriteFile(file, []byte(server.URL+"/services/T0/B0/x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := config.Read(strings.NewReader("notifications: {receivers: [{name: ml, form: slack, namespaces: [ml], urlFile: " + file + "}]}"))
	if err != nil {
		t.Fatal(err)
	}
	s := &serving{settings: settings, registry: newRegistry(), log: logr.Discard()}
	n, err := s.notifier()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = n.Start(ctx) }()
	defer func() { stop(); <-ended }()
	u := &unstructured.Unstructured{}
	u.SetKind("PyTorchJob")
	u.SetNamespace("ml")
	u.SetName("train")
	u.SetUID("u1")
	n.Tell(failureOf(controller.Notice{Job: u, Fingerprint: "f", Result: diagnose.Result{Verdict: diagnose.Diagnosed, Category: "out-of-memory", Error: "worker-3 was killed", Solution: []string{"Ask for more."}}}))
	want := `{"mrkdwn":false,"text":"PyTorchJob ml/train: out-of-memory: worker-3 was killed\nAsk for more.","unfurl_links":false,"unfurl_media":false}`
	for range 2 {
		if got := <-bodies; got != want {
			t.Errorf("sent %s; want %s", got, want)
		}
	}
	if off, err := (&serving{settings: config.Default(), registry: newRegistry()}).notifier(); off != nil || err != nil {
		t.Errorf("without receivers: %v, %v", off, err)
	}
}

type serving = server
