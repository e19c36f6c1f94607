package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/signalbox-dev/signalbox/test/golden"
	"github.com/signalbox-dev/signalbox/test/screenshot"
)

// exitLine is what a transcript says and a terminal does not.
var exitLine = regexp.MustCompile(`\(exit code \d+\)\n$`)

// TestThePicturesShowWhatIsPrinted draws the pictures of docs/pictures from what the commands print, in colour, at 100
// columns; make pictures writes them. The README and the guide show each, and no other.
func TestThePicturesShowWhatIsPrinted(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "signalbox")); err != nil {
		t.Fatal(err)
	}
	const columns = 100
	drawn := map[string]bool{}
	for name, p := range map[string]struct{ command, says string }{
		"fit":      {"signalbox fit job.yaml --snapshot cluster.yaml --map", "signalbox fit draws the cluster as a gang sees it: where four of its six pods fit, and who holds the rest"},
		"check":    {"signalbox check colossalai.yaml --offline", "signalbox check names three mistakes of a manifest with line, reason and remedy"},
		"diagnose": {"signalbox diagnose --bundle a2-oom --timeline", "signalbox diagnose names the pod that failed first, the decisive line, what to do and the time line of the gang"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for at, from := range map[string]string{
				"job.yaml": "examples/gang-does-not-fit/job.yaml", "cluster.yaml": "examples/gang-does-not-fit/cluster.yaml",
				"colossalai.yaml": "examples/colossalai-mistakes/job.yaml", "a2-oom": "test/promises/bundles/a2-oom",
			} {
				from, err := filepath.Abs("../../" + from)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(from, filepath.Join(dir, at)); err != nil {
					t.Fatal(err)
				}
			}
			out := transcript(t, bin, dir, p.command+" --color always", "COLUMNS=100", "TERM=xterm-256color", "NO_COLOR=")
			out = exitLine.ReplaceAllString(out, "")
			drawn[name+".svg"] = true
			golden.Equal(t, "../../docs/pictures/"+name+".svg", []byte(screenshot.SVG("\x1b[2m$\x1b[0m \x1b[1m"+p.command+"\x1b[0m\n"+out, columns, p.says)))
		})
	}
	there, err := os.ReadDir("../../docs/pictures")
	if err != nil {
		t.Fatal(err)
	}
	var pages []byte
	for _, page := range []string{"../../README.md", "../../docs/guide.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, text...)
	}
	for _, f := range there {
		if !drawn[f.Name()] {
			t.Errorf("docs/pictures/%s is drawn from no command", f.Name())
		}
		if !bytes.Contains(pages, []byte("pictures/"+f.Name()+")")) {
			t.Errorf("docs/pictures/%s stands on no page", f.Name())
		}
	}
}
