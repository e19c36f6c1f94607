package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/test/golden"
)

// TestExamplesSayWhatTheirREADMEShows runs every `$ ` line of examples/*/README.md in its
// folder. The README must show just what the command prints, and so must expected.txt;
// -update rewrites both.
func TestExamplesSayWhatTheirREADMEShows(t *testing.T) {
	readmes, err := filepath.Glob("../../examples/*/README.md")
	if err != nil || len(readmes) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "signalbox")); err != nil {
		t.Fatal(err)
	}
	for _, readme := range readmes {
		dir := filepath.Dir(readme)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			text, err := os.ReadFile(readme)
			if err != nil {
				t.Fatal(err)
			}
			page, all := played(string(text), func(command string) string { return transcript(t, bin, dir, command) })
			if all == "" {
				t.Fatalf("%s has no line that begins with $", readme)
			}
			golden.Equal(t, filepath.Join(dir, "expected.txt"), []byte(all))
			golden.Equal(t, readme, []byte(page))
		})
	}
}

// TestTheREADMEShowsWhatIsPrinted runs the `$ ` lines of the console blocks of the README, at 100 columns.
func TestTheREADMEShowsWhatIsPrinted(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "signalbox")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	page, all := played(string(text), func(command string) string { return transcript(t, bin, "../..", command, "COLUMNS=100") })
	if all == "" {
		t.Fatal("the README has no console block with a command")
	}
	golden.Equal(t, "../../README.md", []byte(page))
}

// played is a page with what its commands print below them, and that alone.
func played(text string, run func(command string) string) (page, all string) {
	var b, alone strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console\n"
			b.WriteString(line)
		case inside && isCommand:
			out := line + run(strings.TrimSpace(command))
			b.WriteString(out)
			alone.WriteString(out)
		case !inside:
			b.WriteString(line)
		}
	}
	return b.String(), alone.String()
}

// transcript is what a command prints to both outputs, and its exit code unless 0.
func transcript(t *testing.T, bin, dir, command string, env ...string) string {
	t.Helper()
	words := strings.Fields(command)
	if words[0] != "signalbox" {
		t.Fatalf("an example runs signalbox, not %q", words[0])
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "signalbox"), words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "KUBECONFIG="+os.DevNull, "LC_ALL=C.UTF-8", "TZ=UTC"), env...)
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		out = fmt.Appendf(out, "(exit code %d)\n", code)
	} else if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
