package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/resident"
)

// subject is a webhook that is measured, and the process behind it.
type subject struct {
	name string // of what was installed
	hook string // of its webhook
	pid  int
	// of Signalbox alone; URLs
	metrics, debug string
}

// underShell runs a program in such a way that its process number is known: the shell writes down its own, which is
// the program's afterwards.
func underShell(pidFile, program string, args ...string) []string {
	return append([]string{"-c", `echo $$ > "$0"; exec "$@"`, pidFile, program}, args...)
}

// pidIn reads the number that underShell wrote.
func pidIn(file string) (int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// installSignalbox installs Signalbox as it is shipped: its manifests, its account, the binary.
func installSignalbox(ctx context.Context, plane *cluster.Cluster, s settings, program string) (*subject, error) {
	if _, err := plane.Kubectl(ctx, "apply", "-k", filepath.Join(s.root, "config", "local")); err != nil {
		return nil, err
	}
	if err := plane.Apply(ctx, signalboxPolicies); err != nil {
		return nil, err
	}
	kubeconfig, err := plane.KubeconfigFor(ctx, "signalbox-system", "signalbox")
	if err != nil {
		return nil, err
	}
	file, pidFile := filepath.Join(plane.Dir(), "signalbox.yaml"), filepath.Join(plane.Dir(), "signalbox.pid")
	out := &subject{name: "Signalbox", hook: "validate.signalbox.dev"}
	err = plane.Run(ctx, cluster.Program{
		Name: "signalbox", Path: "/bin/sh", Ports: 4,
		Args: func(port []int) ([]string, error) {
			patch := fmt.Sprintf(`[{"op":"replace","path":"/webhooks/0/clientConfig/url","value":"https://127.0.0.1:%d/validate"}]`, port[0])
			if _, err := plane.Kubectl(ctx, "patch", "validatingwebhookconfiguration", "signalbox", "--type=json", "-p", patch); err != nil {
				return nil, err
			}
			address := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", port[i]) }
			out.metrics, out.debug = "http://"+address(2)+"/metrics", "http://"+address(3)+"/debug"
			text, err := json.Marshal(map[string]any{
				"listen":       map[string]any{"webhook": address(0), "health": address(1), "metrics": address(2), "debug": address(3)},
				"certificates": map[string]any{"hosts": []string{"127.0.0.1"}},
			})
			if err != nil {
				return nil, err
			}
			serve := []string{program, "serve", "--config", file, "--kubeconfig", kubeconfig}
			if s.onlyWebhook {
				serve = append(serve, "--webhook")
			}
			return underShell(pidFile, serve[0], serve[1:]...), os.WriteFile(file, text, 0o600)
		},
		Ready: func(ctx context.Context, port []int) error {
			return cluster.Answers(ctx, fmt.Sprintf("http://127.0.0.1:%d/readyz", port[1]))
		},
	})
	if err != nil {
		return nil, err
	}
	out.pid, err = pidIn(pidFile)
	return out, err
}

// memory is what the process has and had.
func (b *subject) memory() memory {
	return memory{peak: resident.PeakOf(b.pid), now: resident.Of(b.pid, "VmRSS"), file: resident.Of(b.pid, "RssFile")}
}

// cpu is the processor time of the process, in seconds (proc(5), stat: utime and stime in hundredths).
func (b *subject) cpu() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

// profile writes what the time goes to for so many seconds.
func (b *subject) profile(ctx context.Context, seconds int, file string) error {
	text, err := cluster.Get(ctx, fmt.Sprintf("%s/pprof/profile?seconds=%d", b.debug, seconds))
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// heap writes what the memory holds.
func (b *subject) heap(ctx context.Context, file string) error {
	text, err := cluster.Get(ctx, b.debug+"/pprof/heap?gc=1")
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// says is how many things Signalbox says it did not check, and how often it has asked the API server.
func (b *subject) says(ctx context.Context) (unchecked, asked float64, err error) {
	if b.metrics == "" {
		return 0, 0, nil
	}
	text, err := cluster.Get(ctx, b.metrics)
	return sum(string(text), "signalbox_admission_not_checked_total", ""), sum(string(text), "rest_client_requests_total", ""), err
}

// sum adds up the series of a metric that carry a text in their labels.
func sum(text, name, with string) (total float64) {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest == "" || rest[0] != '{' && rest[0] != ' ' || !strings.Contains(rest, with) {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndexByte(rest, ' ')+1:]), 64)
		if err == nil {
			total += n
		}
	}
	return total
}
