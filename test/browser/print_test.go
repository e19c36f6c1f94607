package browser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// onPaper is what a page loses when it is printed: what is folded on the screen cannot be unfolded on paper, what
// scrolls is cut, and light ink on white is none.
const onPaper = `(() => {
	const wrong = [];
	const light = c => { const [r, g, b] = c.match(/[\d.]+/g).map(Number); return 0.2126*r + 0.7152*g + 0.0722*b > 150 };
	for (const d of document.querySelectorAll("details")) {
		for (const p of d.querySelectorAll("pre")) if (!p.checkVisibility({contentVisibilityAuto: true}) || p.getBoundingClientRect().height == 0) wrong.push("folded: " + d.innerText.slice(0, 60));
	}
	for (const w of document.querySelectorAll(".wide")) if (getComputedStyle(w).overflowX != "visible") wrong.push("scrolls: " + w.innerText.slice(0, 60));
	for (const e of document.querySelectorAll("h1, p, li, td, dd, dt, .word, pre")) if (light(getComputedStyle(e).color)) wrong.push("light ink: " + e.className + " " + e.innerText.slice(0, 60));
	for (const s of document.querySelectorAll("section")) if (getComputedStyle(s).contentVisibility != "visible") wrong.push("left out below the screen: " + s.querySelector("h1").textContent);
	if (getComputedStyle(document.body).backgroundColor != "rgb(255, 255, 255)") wrong.push("no white paper");
	return wrong.slice(0, 10);
})()`

// TestPagesPrintWhatTheyHold prints, also from a screen that is dark.
func TestPagesPrintWhatTheyHold(t *testing.T) {
	browser := chromium(t)
	signalbox, dir := program(t), t.TempDir()
	for name, args := range map[string][]string{
		"diagnose": {"diagnose", "--bundle", "../promises/bundles/a2-oom"},
		"fit":      {"fit", "../../examples/gang-does-not-fit/job.yaml", "--snapshot", "../../examples/gang-does-not-fit/cluster.yaml"},
		"audit":    {"audit", "-A", "--snapshot", nodes(t, dir, 10), "--snapshot", gang(t, dir, 20)},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), signalbox, append(args, "-o", "html")...).Output() //nolint:gosec // our own program
			if len(out) == 0 {
				t.Fatalf("%v: %v", args, err)
			}
			page := filepath.Join(dir, name+".html")
			if err := os.WriteFile(page, out, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, scheme := range []string{"light", "dark"} {
				printed(t, browser, "file://"+page, scheme)
			}
		})
	}
}

// printed opens a page as a printer sees it.
func printed(t *testing.T, browser context.Context, page, scheme string) {
	t.Helper()
	ctx, stop := chromedp.NewContext(browser)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(page)); err != nil {
		t.Fatal(err)
	}
	wrong, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](onPaper))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Errorf("printed, %s: %s", scheme, w)
	}
}
