package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// pageOf is what a command writes for a browser.
func pageOf(t *testing.T, args ...string) string {
	t.Helper()
	t.Setenv("KUBECONFIG", os.DevNull)
	var out, errs bytes.Buffer
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: func() time.Time { return now }}, args)
	if !strings.HasSuffix(out.String(), "</html>\n") {
		t.Fatalf("%v: no whole page\n%s\n%s", args, out.String(), errs.String())
	}
	return out.String()
}

func TestPagesSayWhatTheTextSays(t *testing.T) {
	const gang = "../../examples/gang-does-not-fit/"
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"diagnose": {[]string{"diagnose", "--bundle", "../../test/promises/bundles/a2-oom", "-o", "html"}, []string{"What to do", "not healthy", `class="line"`, "What became of the pods", "<svg"}},
		"healthy":  {[]string{"diagnose", "--bundle", "../../test/promises/bundles/a10-healthy", "-o", "html"}, []string{`class="word good">healthy`}},
		"fit":      {[]string{"fit", gang + "job.yaml", "--snapshot", gang + "cluster.yaml", "-o", "html"}, []string{"4 of 6 pods fit now", "32 this job", "h100-2 and 2 more", `class="ours"`, "fits with 3 Workers"}},
		"audit":    {[]string{"audit", "--snapshot", gang + "cluster.yaml", "--snapshot", gang + "job.yaml", "-o", "html"}, []string{"1 job in 1 namespace", "gang-does-not-fit"}},
	} {
		t.Run(name, func(t *testing.T) {
			page := pageOf(t, tc.args...)
			for _, want := range tc.want {
				if !strings.Contains(page, want) {
					t.Errorf("%q is not in the page\n%s", want, page)
				}
			}
			for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
				if !strings.Contains(page, `id="`+m[1]+`"`) {
					t.Errorf("a link leads to %s, which is not there", m[1])
				}
			}
		})
	}
}

// TestPagesObeyNothingTheyShow gives a page names and lines that would run, load or turn something.
func TestPagesObeyNothingTheyShow(t *testing.T) {
	const hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> [1] \u202egnp.exe"
	log := filepath.Join(t.TempDir(), "worker-0.log")
	if err := os.WriteFile(log, []byte("RuntimeError: "+hostile+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	page := pageOf(t, "diagnose", log, "-o", "html")
	for _, bad := range []string{"<script", "<img", "\u202e", "http-equiv=\"refresh\""} {
		if strings.Contains(page, bad) {
			t.Errorf("%q is in the page:\n%s", bad, page)
		}
	}
	if !strings.Contains(page, "default-src &#39;none&#39;") && !strings.Contains(page, "default-src 'none'") {
		t.Error("the page forbids nothing")
	}
	if urls := regexp.MustCompile(`(?:src|href)="[^#"]`).FindAllString(page, -1); urls != nil {
		t.Errorf("the page loads or leads to something: %q", urls)
	}
}
