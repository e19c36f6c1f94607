// Package browser opens the pages that the commands write in a real Chromium: nothing may be loaded, logged as an
// error or cut off, on a telephone and on a screen, in light and in dark, and whoever has no mouse gets everywhere.
package browser

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

//go:embed faults.js
var faults string

//go:embed picture.js
var picture string

// axe looks for what keeps people from reading a page who see little, hear it read or have no mouse; where it is
// from stands in axe/README.md.
//
//go:embed axe/axe.min.js
var axe string

// axeRun runs its rules for WCAG and good practice. Rows, items and sections come from one template each: 20 stand for all.
const axeRun = `document.querySelectorAll("tbody, main, ul, ol, dl").forEach(b => [...b.children].slice(20).forEach(r => r.remove()));
axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(
	r => r.violations.flatMap(v => v.nodes.slice(0, 3).map(n => v.id + ": " + v.help + ": " + n.html.slice(0, 120))))`

// laidOut has the browser lay out what is below the screen, too, so that nothing there is too wide unseen.
const laidOut = `document.head.append(Object.assign(document.createElement("style"), {textContent: "* { content-visibility: visible !important }"})), true`

var update = flag.Bool("update", false, "rewrite what the pictures are made of")

// program is the command, built from this checkout.
func program(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "signalbox")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", out, "./cmd/signalbox")
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, text)
	}
	return out
}

// chromium starts one browser for all pages.
func chromium(t *testing.T) context.Context {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			ctx, stop := chromedp.NewExecAllocator(t.Context(), slices.Concat(chromedp.DefaultExecAllocatorOptions[:], []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.NoSandbox})...)
			t.Cleanup(stop)
			ctx, stop = chromedp.NewContext(ctx)
			t.Cleanup(stop)
			if err := chromedp.Do(ctx); err != nil { // starts it
				t.Fatal(err)
			}
			return ctx
		}
	}
	t.Skip("not run: the pages of diagnose, fit, audit and board, because there is no Chromium (Debian's package is called chromium)")
	return nil
}

func TestPages(t *testing.T) {
	browser := chromium(t)
	signalbox, dir := program(t), t.TempDir()
	pictures := map[string]string{"a failed gang": "timeline", "a gang that doesn't fit": "map"}
	for name, args := range map[string][]string{
		"a failed gang":           {"diagnose", "--bundle", "../promises/bundles/a2-oom"},
		"an exit code only":       {"diagnose", "--bundle", "../promises/bundles/a2b-137-no-oom"},
		"a healthy job":           {"diagnose", "--bundle", "../promises/bundles/a10-healthy"},
		"a gang that doesn't fit": {"fit", "../../examples/gang-does-not-fit/job.yaml", "--snapshot", "../../examples/gang-does-not-fit/cluster.yaml"},
		"a fit on 5,000 nodes":    {"fit", gang(t, dir, 1), "--snapshot", nodes(t, dir, 5000)},
		"an audit of 500 jobs":    {"audit", "-A", "--snapshot", nodes(t, dir, 100), "--snapshot", gang(t, dir, 500)},
	} {
		t.Run(name, func(t *testing.T) {
			page := filepath.Join(dir, strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
					return r
				}
				return '-'
			}, name)+".html")
			out, err := exec.CommandContext(t.Context(), signalbox, append(args, "-o", "html")...).Output() //nolint:gosec // our own program
			if len(out) == 0 {
				t.Fatalf("%v: %v", args, err)
			}
			if err := os.WriteFile(page, out, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, width := range []int64{390, 1440} {
				for _, scheme := range []string{"light", "dark"} {
					look(t, browser, "file://"+page, "file://"+page, width, scheme)
				}
			}
			if golden := pictures[name]; golden != "" {
				compare(t, browser, "file://"+page, filepath.Join("testdata", golden+".txt"))
			}
		})
	}
}

// compare fails unless the pictures of a page are made of what they were made of.
func compare(t *testing.T, browser context.Context, page, golden string) {
	t.Helper()
	ctx, stop := chromedp.NewContext(browser)
	defer stop()
	if err := chromedp.Do(ctx, chromedp.Navigate(page)); err != nil {
		t.Fatal(err)
	}
	lines, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](picture))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: want\n%s\ngot\n%s\nIf the new picture is right: go test -update", golden, want, got)
	}
}

// look opens a page once and says what is wrong with it. It may load what begins with allowed.
func look(t *testing.T, browser context.Context, page, allowed string, width int64, scheme string) {
	t.Helper()
	ctx, stop := chromedp.NewContext(browser)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	heard := make(chan string, 100)
	hear := func(text string) {
		select {
		case heard <- text:
		default: // a hundred are enough
		}
	}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			hear("exception: " + e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			hear(fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text))
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, allowed) {
				hear("loads " + e.Request.URL)
			}
		}
	})
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatalf("%d pixels, %s: %v", width, scheme, err)
		}
	}
	must(err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	must(err)
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	must(err)
	_, err = chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 600})
	must(err)
	_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	must(err)
	must(chromedp.Do(ctx, chromedp.Navigate(page)))
	took, err := chromedp.Run(ctx, chromedp.Evaluate[float64](`performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`))
	must(err)
	_, err = chromedp.Run(ctx, chromedp.Evaluate[bool](laidOut))
	must(err)
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](faults))
	must(err)
	links, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.querySelectorAll("a[href], summary, [tabindex]").length`))
	must(err)
	stops := 0
	for range min(links, 20) {
		must(chromedp.Do(ctx, chromedp.KeyEvent("\t")))
		at, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`document.activeElement.matches("a[href], summary, [tabindex]") && getComputedStyle(document.activeElement).outlineStyle != "none"`))
		must(err)
		if at {
			stops++
		}
	}
	var wrong []string
	for len(heard) > 0 {
		wrong = append(wrong, <-heard)
	}
	if want := min(links, 20); stops != want {
		wrong = append(wrong, fmt.Sprintf("Tab reaches %d of %d links, or does not show where it is", stops, want))
	}
	_, err = chromedp.Run(ctx, chromedp.Evaluate[bool](axe+"\n;true"))
	must(err)
	barriers, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](axeRun, chromedp.EvalAwaitPromise))
	must(err)
	for _, w := range slices.Concat(wrong, found, barriers) {
		t.Errorf("%d pixels, %s: %s", width, scheme, w)
	}
	t.Logf("%d pixels, %s: there after %.0f ms", width, scheme, took)
}

// nodes is a snapshot of so many nodes of eight devices.
func nodes(t *testing.T, dir string, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: node-%04d, labels: {nvidia.com/gpu.product: H100-%d}}\nstatus:\n  allocatable: {cpu: '64', memory: 512Gi, pods: '110', nvidia.com/gpu: '8'}\n  capacity: {cpu: '64', memory: 512Gi, pods: '110', nvidia.com/gpu: '8'}\n  conditions: [{type: Ready, status: 'True'}]\n", i, i%7)
	}
	return written(t, filepath.Join(dir, fmt.Sprintf("nodes-%d.yaml", n)), b.String())
}

// gang is so many jobs of four pods with a mistake each.
func gang(t *testing.T, dir string, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: train-%03d, namespace: team-%d}\nspec:\n  pytorchReplicaSpecs:\n    Worker:\n      replicas: 4\n      template:\n        spec:\n          containers:\n          - {name: pytorch, image: example.org/train:1, resources: {limits: {nvidia.com/gpu: 16}}}\n", i, i%9)
	}
	return written(t, filepath.Join(dir, fmt.Sprintf("jobs-%d.yaml", n)), b.String())
}

func written(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
