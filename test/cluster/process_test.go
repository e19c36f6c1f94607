//go:build integration && linux

package cluster_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/test/cluster"
)

// processesIn are the running programs that have a folder in their command line: command by process id.
func processesIn(t *testing.T, dir string) map[int]string {
	t.Helper()
	found := map[int]string{}
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it ended since
		}
		command := strings.ReplaceAll(string(content), "\x00", " ")
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && strings.Contains(command, dir) && strings.Contains(command, "bin/controlplane/") {
			found[pid] = command
		}
	}
	return found
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// TestOwner is not a test of its own: the test below runs it in a process that dies.
func TestOwner(t *testing.T) {
	if os.Getenv("CLUSTER_OWNER") == "" {
		t.Skip("runs only as a child of TestNothingSurvivesItsOwner")
	}
	c, err := cluster.Start(t.Context(), cluster.Options{Parts: cluster.Machinery})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("dir:", c.Dir())
	<-c.Done()
}

func TestNothingSurvivesItsOwner(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			owner := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOwner$")
			owner.Env = append(os.Environ(), "CLUSTER_OWNER=1", "TMPDIR="+t.TempDir())
			out, err := owner.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := owner.Start(); err != nil {
				t.Fatal(err)
			}
			dir, printed := "", ""
			for lines := bufio.NewScanner(out); dir == "" && lines.Scan(); printed += lines.Text() + "\n" {
				dir, _ = strings.CutPrefix(lines.Text(), "dir: ")
				if dir == lines.Text() {
					dir = ""
				}
			}
			if dir == "" {
				t.Fatalf("the owner never got its cluster:\n%s", printed)
			}
			if got := len(processesIn(t, dir)); got != 5 {
				t.Errorf("running: %d processes, want 5", got)
			}
			if err := owner.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = owner.Wait()
			deadline := time.Now().Add(10 * time.Second)
			for len(processesIn(t, dir)) > 0 && time.Now().Before(deadline) {
			}
			if left := processesIn(t, dir); len(left) > 0 {
				t.Errorf("survived %s of their owner: %v", signal, left)
			}
		})
	}
}
