//go:build integration && linux

package cluster_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

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
	ctx := t.Context()
	if os.Getenv("CLUSTER_OWNER") == "listens" {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
		defer stop()
	}
	c, err := cluster.Start(ctx, cluster.Options{Parts: cluster.Machinery})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("dir:", c.Dir())
	<-c.Done()
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
}

func TestNothingSurvivesItsOwner(t *testing.T) {
	cases := map[string]struct {
		owner  string
		signal syscall.Signal
		folder bool // stays
	}{
		"Ctrl-C that the owner handles":     {"listens", syscall.SIGINT, false},
		"Ctrl-C that the owner knows not":   {"deaf", syscall.SIGINT, true},
		"a kill that nobody can handle":     {"deaf", syscall.SIGKILL, true},
		"an owner that handles is killed":   {"listens", syscall.SIGKILL, true},
		"termination that nobody cares for": {"deaf", syscall.SIGTERM, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			owner := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOwner$")
			owner.Env = append(os.Environ(), "CLUSTER_OWNER="+tc.owner, "TMPDIR="+t.TempDir())
			dir := startOwner(t, owner)
			if got := len(processesIn(t, dir)); got != 5 {
				t.Errorf("running: %d processes, want 5", got)
			}
			if err := owner.Process.Signal(tc.signal); err != nil {
				t.Fatal(err)
			}
			_ = owner.Wait()
			eventually(t, func(context.Context) error {
				if left := processesIn(t, dir); len(left) > 0 {
					return fmt.Errorf("survived their owner: %v", left)
				}
				return nil
			})
			if _, err := os.Stat(dir); (err == nil) != tc.folder {
				t.Errorf("folder %s: %v; want it to stay: %t", dir, err, tc.folder)
			}
		})
	}
}

// startOwner returns the folder of the cluster that the owner has started.
func startOwner(t *testing.T, owner *exec.Cmd) string {
	t.Helper()
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	var printed []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if dir, ok := strings.CutPrefix(lines.Text(), "dir: "); ok {
			return dir
		}
		printed = append(printed, lines.Text())
	}
	t.Fatalf("the owner never got its cluster:\n%s", strings.Join(printed, "\n"))
	return ""
}
