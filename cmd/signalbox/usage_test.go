package main

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// TestEveryCommandShowsAnExample: who asks for help wants a line to paste.
func TestEveryCommandShowsAnExample(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Example == "" && !c.Hidden && (c.Parent() == nil || c.Parent().Name() != "completion") { // cobra's own
			t.Errorf("%s --help shows no example", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(&shell.Shell{Name: "signalbox"}))
}

// TestCommandsAreListedByWhenTheyAreNeeded: none is left over.
func TestCommandsAreListedByWhenTheyAreNeeded(t *testing.T) {
	for _, c := range newRoot(&shell.Shell{Name: "signalbox"}).Commands() {
		if c.IsAvailableCommand() && c.GroupID == "" {
			t.Errorf("%s stands under no heading of signalbox --help; headings has the list", c.Name())
		}
	}
}

// TestHelpNamesFlagsOfKubectlOnce: without their descriptions, which would be half of the list.
func TestHelpNamesFlagsOfKubectlOnce(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	var out bytes.Buffer
	if code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &out, Now: time.Now}, []string{"check", "--help"}); code != shell.ExitFine {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	_, flags, _ := strings.Cut(out.String(), "\nFlags:\n")
	for text, want := range map[string]int{"--kubeconfig": 1, "Path to the kubeconfig": 0, "The cluster is chosen as by kubectl: ": 1, "-n, --namespace": 1} {
		if got := strings.Count(flags, text); got != want {
			t.Errorf("%q stands there %d times, want %d", text, got, want)
		}
	}
	for line := range strings.Lines(flags) {
		if n := len([]rune(strings.TrimSpace(line))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestListsOfHelpAreAsWideAsTheTerminal: of commands and flags; a name that is longer than the room for names has its
// description below, and the others keep theirs beside them.
func TestListsOfHelpAreAsWideAsTheTerminal(t *testing.T) {
	for _, width := range []int{40, 60, 80} {
		t.Setenv("COLUMNS", strconv.Itoa(width))
		for _, args := range []string{"--help", "check --help", "diagnose --help", "list --help", "policy --help"} {
			var out bytes.Buffer
			if code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &out, Now: time.Now}, strings.Fields(args)); code != shell.ExitFine {
				t.Fatalf("exit code %d: %s", code, out.String())
			}
			_, lists, _ := strings.Cut(out.String(), "\nExamples:\n")
			_, lists, _ = strings.Cut(lists, "\n\n") // examples are copied whole
			for line := range strings.Lines(lists) {
				line = strings.TrimSuffix(line, "\n")
				if n := len([]rune(line)); n > width {
					t.Errorf("%s: %d of %d columns: %s", args, n, width, line)
				}
				if strings.HasSuffix(line, " ") {
					t.Errorf("%s at %d columns: %q ends with a space", args, width, line)
				}
			}
		}
	}
	const want = `  -k         short
      --much-too-long-a-name
             one two
             three
`
	if diff := cmp.Diff(want, twoColumns([][2]string{{"-k      ", "short"}, {"    --much-too-long-a-name", "one two three"}}, 24)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDescriptionsAreAsWideAsTheTerminal: lines of a paragraph are joined and broken anew; what is indented stays.
func TestDescriptionsAreAsWideAsTheTerminal(t *testing.T) {
	t.Setenv("COLUMNS", "60")
	for _, command := range []string{"check", "diagnose", "fit", "snapshot", "policy audit"} {
		var out bytes.Buffer
		if code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &out, Now: time.Now}, append(strings.Fields(command), "--help")); code != shell.ExitFine {
			t.Fatalf("exit code %d: %s", code, out.String())
		}
		about, _, _ := strings.Cut(out.String(), "\nUsage:\n")
		for line := range strings.Lines(about) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 60 {
				t.Errorf("%s: %d columns: %s", command, n, line)
			}
		}
	}
	if got, want := reflowed("a b\nc d\n\n  x\n  y\n\ne", 5), "a b c\nd\n\n  x\n  y\n\ne"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	if got := reflowed("a\nb", 0); got != "a\nb" {
		t.Errorf("no terminal: %q", got)
	}
}

// TestHelpOfNoCommand is as wrong as the word in front, and says what is meant.
func TestHelpOfNoCommand(t *testing.T) {
	for args, want := range map[string]string{
		"help fti":        `signalbox: no command is called "fti"; did you mean "fit"?` + "\n",
		"help policy tst": `signalbox: policy: "tst" is no command; expected audit, bench, check, new, replay or test; did you mean "test"?` + "\n",
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}, strings.Fields(args))
		if code != shell.ExitUsage || out.Len() > 0 || errs.String() != want {
			t.Errorf("%s: exit code %d, %q, want %q", args, code, errs.String(), want)
		}
	}
}

// TestCompletionShowsDescriptionsWithoutQuotes: only --help reads them.
func TestCompletionShowsDescriptionsWithoutQuotes(t *testing.T) {
	var out bytes.Buffer
	run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &bytes.Buffer{}, Now: time.Now}, []string{"__complete", "diagnose", "--b"})
	if want := "--bundle\tsaved evidence: a file or folder written by the bundle command\n:4\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
