package board

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	getcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/get"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	made "github.com/signalbox-dev/signalbox/test/build"
)

// shownCluster is a cluster of one job, which counts how often it was asked.
type shownCluster struct {
	rows  []getcmd.JobRow
	asked int
	err   error
}

func (c *shownCluster) jobs(context.Context) ([]getcmd.JobRow, []string, error) {
	c.asked++
	return c.rows, []string{"you may not list mpijobs"}, c.err
}

func (c *shownCluster) diagnosis(_ context.Context, kind, namespace, name string) (diagnose.Result, error) {
	c.asked++
	return diagnose.Result{Job: job.Ref{Kind: kind, Namespace: namespace, Name: name}, Verdict: diagnose.Diagnosed, Category: "gpu-oom", Error: "worker-3 ran out of GPU memory"}, c.err
}

func (c *shownCluster) nodes(context.Context) (*cluster.Snapshot, error) {
	c.asked++
	return made.Cluster(made.Nodes(3, "h100", made.GPUs(8))...), c.err
}

func boardOf(t *testing.T, source boardSource) (b *board, at string, in *http.Client, pass func(time.Duration)) {
	t.Helper()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	b = &board{sh: &shell.Shell{Now: func() time.Time { return now }}, key: "right", turn: make(chan struct{}, 1), source: source}
	server := httptest.NewServer(b.handler())
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b, server.URL, &http.Client{Jar: jar}, func(d time.Duration) { now = now.Add(d) }
}

func open(t *testing.T, by *http.Client, address string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := by.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestTheBoardOpensToWhoHasItsKey(t *testing.T) {
	source := &shownCluster{rows: []getcmd.JobRow{{Kind: "PyTorchJob", Namespace: "ml", Name: "llama", Healthy: "No", State: "Running", Error: "worker-3 ran out of <b>GPU</b> memory", Devices: 16}}}
	_, at, in, pass := boardOf(t, source)
	for _, address := range []string{"/", "/?key=wrong", "/nodes", "/jobs/PyTorchJob/ml/llama"} {
		if code, _ := open(t, in, at+address); code != http.StatusUnauthorized {
			t.Errorf("%s without the key: %d", address, code)
		}
	}
	if source.asked > 0 {
		t.Errorf("strangers made %d questions to the cluster", source.asked)
	}
	code, page := open(t, in, at+"/?key=right")
	if code != http.StatusOK || !strings.Contains(page, "worker-3 ran out of &lt;b&gt;GPU&lt;/b&gt; memory") || !strings.Contains(page, "you may not list mpijobs") {
		t.Fatalf("%d\n%s", code, page)
	}
	links := regexp.MustCompile(`href="(/[^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(links) != 4 { // three pages, one job
		t.Errorf("links: %v", links)
	}
	for _, l := range links {
		code, page := open(t, in, at+l[1])
		if code != http.StatusOK || !strings.HasSuffix(page, "</html>\n") {
			t.Errorf("%s: %d\n%s", l[1], code, page)
		}
	}
	before := source.asked
	open(t, in, at+"/")
	if source.asked != before {
		t.Error("a page that was made a moment ago was made again")
	}
	pass(jobsKept)
	open(t, in, at+"/")
	if source.asked != before+1 {
		t.Error("an old page was not made again")
	}
	if code, _ := open(t, in, at+"/jobs/PyTorchJob/ml"); code != http.StatusNotFound {
		t.Errorf("an address of no page: %d", code)
	}
}

// Whatever the way, the method or the site that a request comes from: without the key nothing is read.
func TestTheBoardIsClosedToWhoHasNoKey(t *testing.T) {
	source := &shownCluster{rows: []getcmd.JobRow{{Kind: "PyTorchJob", Namespace: "ml", Name: "secret-job"}}}
	_, at, in, _ := boardOf(t, source)
	if code, _ := open(t, in, at+"/?key=right"); code != http.StatusOK { // the page is kept from now on
		t.Fatal(code)
	}
	asked := source.asked
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions} {
		for _, path := range []string{"/", "//", "/%2f", "/./", "/nodes", "/checks", "/jobs/PyTorchJob/ml/secret-job", "/jobs/..%2f../x/y", "/?key=", "/?key=wrong", "/?key=wrong&key=right", "/nodes?key=RIGHT"} {
			request, err := http.NewRequestWithContext(t.Context(), method, at+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = "evil.example"
			request.Header.Set("Cookie", "signalbox-board=wrong; signalbox-board=; other=right")
			request.Header.Set("Referer", at+"/?key=right")
			request.Header.Set("Authorization", "Bearer right")
			answer, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusUnauthorized || strings.Contains(string(text), "secret-job") || answer.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s %s is answered with %d: %s", method, path, answer.StatusCode, text)
			}
		}
	}
	if source.asked != asked {
		t.Errorf("the cluster was asked %d times", source.asked-asked)
	}
}

func TestTheFirstPageIsMadeBeforeABrowserAsks(t *testing.T) {
	source := &shownCluster{rows: []getcmd.JobRow{{Kind: "PyTorchJob", Namespace: "ml", Name: "llama"}}}
	b, at, in, _ := boardOf(t, source)
	if err := b.warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if code, page := open(t, in, at+"/?key=right"); code != http.StatusOK || !strings.Contains(page, "llama") || source.asked != 1 {
		t.Errorf("%d after %d questions\n%s", code, source.asked, page)
	}
}

func TestTheBoardSaysWhatItCouldNotRead(t *testing.T) {
	source := &shownCluster{err: shell.Usagef("the cluster does not answer")}
	b, at, in, _ := boardOf(t, source)
	open(t, in, at+"/?key=right")
	for _, address := range []string{"/", "/nodes", "/checks", "/jobs/PyTorchJob/ml/llama"} {
		code, page := open(t, in, at+address)
		if code != http.StatusBadGateway || !strings.Contains(page, "the cluster does not answer") {
			t.Errorf("%s: %d\n%s", address, code, page)
		}
	}
	if len(b.kept) > 0 {
		t.Error("what could not be read is kept")
	}
}

func TestTheBoardKeepsSoManyPages(t *testing.T) {
	b, _, _, _ := boardOf(t, &shownCluster{})
	for i := range mostKept {
		b.remember(fmt.Sprint("/", i), []byte("page"), time.Minute)
	}
	if len(b.kept) != mostKept {
		t.Errorf("%d pages are kept, want %d", len(b.kept), mostKept)
	}
	b.remember("/more", []byte("page"), time.Minute)
	if len(b.kept) > mostKept || b.recall("/more") == nil {
		t.Errorf("%d pages are kept after one more", len(b.kept))
	}
}

func TestTheNodesOfTheBoardAreThoseOfNoJob(t *testing.T) {
	_, at, in, _ := boardOf(t, &shownCluster{})
	open(t, in, at+"/?key=right")
	if code, page := open(t, in, at+"/nodes"); code != http.StatusOK || !strings.Contains(page, "<h2>The nodes</h2>") || strings.Contains(page, "this job") {
		t.Errorf("%d\n%s", code, page)
	}
}
