// Package board is the command board, which serves the jobs of a cluster, their diagnoses and its nodes as pages for a browser.
package board

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"

	diagnosecmd "github.com/signalbox-dev/signalbox/cmd/signalbox/diagnose"
	getcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/get"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/browser"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/build"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/loopback"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/signatures"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/nodemap"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// A page is made anew when it is asked for, but not more often than so: people reload, and the API server answers others, too.
const (
	jobsKept  = 5 * time.Second
	nodesKept = 30 * time.Second
	mostKept  = 64 // pages
)

// New is the command board.
func New(sh *shell.Shell) *cobra.Command {
	from := review.NewFlags()
	listen := "127.0.0.1:8378"
	c := &cobra.Command{
		Use:   "board",
		Short: "show the jobs of a cluster, their diagnoses and its nodes as pages for a browser",
		Long: `Board serves pages on this machine: the training jobs, what hurts first; why one waits or
failed, as diagnose says it; the nodes by pool; and what became of what the checks said.

It reads with the rights of the kubeconfig and changes nothing. It listens on this machine
only, and opens to who has the address that it prints, which holds a key of this run.`,
		Example: fmt.Sprintf("  %[1]s board\n  %[1]s board --context prod --listen 127.0.0.1:9000", sh.Name),
		Args:    shell.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return shell.Own(serveBoard(c.Context(), sh, from, listen))
		},
	}
	from.Add(c)
	for _, name := range []string{"snapshot", "offline", "policy", "config"} {
		shell.Hide(c, name)
	}
	c.Flags().StringVar(&listen, "listen", listen, "serve at this `address` of the machine itself")
	return c
}

func serveBoard(ctx context.Context, sh *shell.Shell, from *review.Flags, listen string) error {
	live, err := apiserver.Reach(ctx, from.Kube, "")
	if err != nil {
		return err
	}
	at, err := loopback.Listen(ctx, listen)
	if err != nil {
		return err
	}
	b := &board{sh: sh, key: rand.Text(), turn: make(chan struct{}, 1), source: &clusterSource{sh: sh, live: live, from: from}}
	if err := b.warm(ctx); err != nil {
		return err
	}
	sh.Tell("open http://%s/?key=%s", at.Addr(), b.key)
	return loopback.Serve(ctx, at, b.handler())
}

// boardSource is what the pages show.
type boardSource interface {
	jobs(ctx context.Context) (rows []getcmd.JobRow, missing []string, err error)
	diagnosis(ctx context.Context, kind, namespace, name string) (diagnose.Result, error)
	nodes(ctx context.Context) (*cluster.Snapshot, error)
}

// clusterSource reads the cluster with the rights of the kubeconfig.
type clusterSource struct {
	sh   *shell.Shell
	live *apiserver.Cluster
	from *review.Flags
}

func (c *clusterSource) jobs(ctx context.Context) ([]getcmd.JobRow, []string, error) {
	every := getcmd.AnyJob(c.from.Kube, *c.from.Kube.Namespace == "")
	rows, missing, _, err := every.List(ctx, c.live, nil)
	return rows, missing.Notes(every.NamespaceOf(c.live)), err
}

func (c *clusterSource) diagnosis(ctx context.Context, kind, namespace, name string) (diagnose.Result, error) {
	targets, err := apiserver.ReadNamed([]string{kind + "/" + name})
	if err != nil {
		return diagnose.Result{}, err
	}
	catalog, err := signatures.With(nil)
	if err != nil {
		return diagnose.Result{}, err
	}
	there := *c.live
	there.Namespace = namespace
	there.ForOthers = true
	found, err := there.CaseOf(ctx, c.sh, targets[0])
	if err != nil {
		return diagnose.Result{}, err
	}
	return diagnose.Diagnose(ctx, found, catalog, diagnose.Options{}), ctx.Err()
}

func (c *clusterSource) nodes(ctx context.Context) (*cluster.Snapshot, error) {
	w, err := c.from.Open(ctx, c.sh, &input.Input{})
	if err != nil {
		return nil, err
	}
	return w.Cluster, nil
}

// board makes the pages. One question at a time goes to the cluster.
type board struct {
	sh     *shell.Shell
	key    string
	source boardSource
	turn   chan struct{}

	mu   sync.Mutex
	kept map[string]keptPage
}

type keptPage struct {
	text  []byte
	until time.Time
}

func (b *board) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", b.page(jobsKept, b.jobs))
	mux.HandleFunc("GET /jobs/{kind}/{namespace}/{name}", b.page(jobsKept, func(ctx context.Context, r *http.Request) (string, []browser.Section, error) {
		result, err := b.source.diagnosis(ctx, r.PathValue("kind"), r.PathValue("namespace"), r.PathValue("name"))
		return r.PathValue("name"), []browser.Section{diagnosecmd.DiagnosisSection(result)}, err
	}))
	mux.HandleFunc("GET /nodes", b.page(nodesKept, func(ctx context.Context, _ *http.Request) (string, []browser.Section, error) {
		view, err := b.source.nodes(ctx)
		s := browser.Section{Title: "Nodes", NoJob: true}
		if err == nil {
			s.Pools, s.Notes = browser.Pools(nodemap.Overview(view, browser.MostRowsShown))
		}
		return "Nodes", []browser.Section{s}, err
	}))
	mux.HandleFunc("GET /checks", b.page(jobsKept, func(ctx context.Context, _ *http.Request) (string, []browser.Section, error) {
		rows, missing, err := b.source.jobs(ctx)
		return "What became of what the checks said", []browser.Section{getcmd.OutcomesSection(rows, missing)}, err
	}))
	return b.guarded(mux)
}

// warm makes the first page, which also connects and asks what the cluster serves, and keeps it: nobody waits for that
// before a browser. What cannot be read the page says when it is opened.
func (b *board) warm(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	if err != nil {
		return fmt.Errorf("ask for the first page: %w", err)
	}
	_, _ = b.made(r, jobsKept, b.jobs)
	return ctx.Err()
}

// jobs is the first page.
func (b *board) jobs(ctx context.Context, _ *http.Request) (string, []browser.Section, error) {
	rows, missing, err := b.source.jobs(ctx)
	getcmd.SortRows(rows, "hurt", b.sh.Now())
	return "Training jobs", []browser.Section{getcmd.JobsSection(rows, missing, b.sh.Now(), true)}, err
}

// guarded lets in who has the key: from the address once, from then on by a cookie that no other site can send.
func (b *board) guarded(next http.Handler) http.Handler {
	const cookie = "signalbox-board"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		if key := r.URL.Query().Get("key"); key != "" && same(key, b.key) {
			http.SetCookie(w, &http.Cookie{Name: cookie, Value: b.key, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // over the loopback there is no TLS
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		if c, err := r.Cookie(cookie); err != nil || !same(c.Value, b.key) {
			http.Error(w, "open the address that signalbox board printed: it holds the key of this run", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// page answers with a page that is kept for a while.
func (b *board) page(keep time.Duration, made func(context.Context, *http.Request) (title string, sections []browser.Section, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		text, code := b.made(r, keep, made)
		w.WriteHeader(code)
		_, _ = w.Write(text) //nolint:gosec // html/template wrote it; the caller may have gone
	}
}

func (b *board) made(r *http.Request, keep time.Duration, made func(context.Context, *http.Request) (string, []browser.Section, error)) ([]byte, int) {
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-r.Context().Done():
		return nil, http.StatusServiceUnavailable
	}
	if text := b.recall(r.URL.Path); text != nil {
		return text, http.StatusOK
	}
	title, sections, err := made(r.Context(), r)
	code := http.StatusOK
	if err != nil {
		code = http.StatusBadGateway
		sections = []browser.Section{{Title: title, Word: "not read", State: browser.Dim, Lead: shell.Message(err)}}
	}
	var out bytes.Buffer
	page := browser.Page{Title: title, Version: build.Read().Version, Made: b.sh.Now(), Sections: sections, Links: []browser.Cell{{Text: "Jobs", To: "/"}, {Text: "Nodes", To: "/nodes"}, {Text: "Checks", To: "/checks"}}}
	if err := browser.Write(&out, page); err != nil {
		return []byte(shell.Message(err)), http.StatusInternalServerError
	}
	if code == http.StatusOK {
		b.remember(r.URL.Path, out.Bytes(), keep)
	}
	return out.Bytes(), code
}

func (b *board) recall(path string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k, ok := b.kept[path]; ok && b.sh.Now().Before(k.until) {
		return k.text
	}
	return nil
}

// remember keeps a page; of too many all go, because the next question makes them anew.
func (b *board) remember(path string, text []byte, keep time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept == nil || len(b.kept) >= mostKept {
		b.kept = map[string]keptPage{}
	}
	b.kept[path] = keptPage{text, b.sh.Now().Add(keep)}
}
