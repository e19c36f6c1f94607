// Package line puts Signalbox on a real control plane, the way a platform team would: from
// the project's own manifests in config/local, with the binary under its own ServiceAccount.
// The demo and the end-to-end tests stand on it.
package line

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/fakellm"
)

// Options say what to start.
type Options struct {
	Parts    cluster.Part
	Nodes    []cluster.Node
	Settings map[string]any // of Signalbox's configuration file, over the ones this package needs
	Progress io.Writer      // nil: silent
	// KwokConfig are more files for kwok: stages and ClusterLogs.
	KwokConfig []string
}

// Line is a control plane with Signalbox installed and ready.
type Line struct {
	*cluster.Cluster
	Model *fakellm.Server // the language model that Signalbox is configured with
	Root  string          // the project's folder
}

// Start returns when Signalbox is ready: its caches are synced and its certificate is in
// place. On failure everything has been stopped again.
func Start(ctx context.Context, o Options) (_ *Line, err error) {
	root, err := Repository()
	if err != nil {
		return nil, err
	}
	l := &Line{Root: root}
	if l.Model, err = fakellm.Start(ctx); err != nil {
		return nil, err
	}
	if l.Cluster, err = cluster.Start(ctx, cluster.Options{Parts: o.Parts, Progress: o.Progress, KwokConfig: o.KwokConfig}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.Keep()
			err = errors.Join(err, l.Stop())
		}
	}()
	if err := l.InstallCRDs(ctx, 0, filepath.Join(root, "test", "cluster", "crds")); err != nil {
		return nil, err
	}
	if err := l.CreateNodes(ctx, o.Nodes...); err != nil {
		return nil, err
	}
	return l, l.install(ctx, o.Settings)
}

// Pools are four free 8-GPU nodes (h100-0 … -3), two to fragment (-4, -5) and one to cordon
// (-6), three 4-GPU nodes behind a taint, and two nodes of 24 CPUs.
func Pools() []cluster.Node {
	var all []cluster.Node
	for i := range 7 {
		all = append(all, cluster.GPUNode(fmt.Sprintf("h100-%d", i), "NVIDIA-H100-80GB-HBM3", 8))
	}
	for i := range 3 {
		n := cluster.GPUNode(fmt.Sprintf("l40s-%d", i), "NVIDIA-L40S", 4)
		n.Taints = []corev1.Taint{{Key: "gpu", Value: "l40s", Effect: corev1.TaintEffectNoSchedule}}
		all = append(all, n)
	}
	for i := range 2 {
		n := cluster.GPUNode(fmt.Sprintf("pai-%d", i), "NVIDIA-A10", 2)
		n.Labels["pai-worker"] = "true"
		n.Allocatable[corev1.ResourceCPU] = resource.MustParse("24")
		all = append(all, n)
	}
	return all
}

func (l *Line) install(ctx context.Context, settings map[string]any) error {
	if _, err := l.Kubectl(ctx, "apply", "-k", filepath.Join(l.Root, "config", "local")); err != nil {
		return err
	}
	kubeconfig, err := l.KubeconfigFor(ctx, "signalbox-system", "signalbox")
	if err != nil {
		return err
	}
	config := filepath.Join(l.Dir(), "signalbox.yaml")
	return l.Run(ctx, cluster.Program{
		Name: "signalbox", Path: filepath.Join(l.Root, "bin", "signalbox"), Ports: 2,
		Args: func(port []int) ([]string, error) {
			if err := l.point(ctx, port[0]); err != nil {
				return nil, err
			}
			text, err := json.MarshalIndent(l.settings(port[0], port[1], settings), "", "  ")
			if err != nil {
				return nil, err
			}
			args := []string{"serve", "--config", config, "--kubeconfig", kubeconfig}
			return args, os.WriteFile(config, text, 0o600)
		},
		Ready: func(ctx context.Context, port []int) error {
			return cluster.Answers(ctx, fmt.Sprintf("http://127.0.0.1:%d/readyz", port[1]))
		},
	})
}

// point makes the API server call the webhook on the port of this run.
func (l *Line) point(ctx context.Context, port int) error {
	patch := fmt.Sprintf(`[{"op":"replace","path":"/webhooks/0/clientConfig/url","value":"https://127.0.0.1:%d/validate"}]`, port)
	_, err := l.Kubectl(ctx, "patch", "validatingwebhookconfiguration", "signalbox", "--type=json", "-p", patch)
	return err
}

// settings are quick, because people and tests wait.
func (l *Line) settings(webhook, health int, more map[string]any) map[string]any {
	all := map[string]any{
		"listen": map[string]any{
			"webhook": fmt.Sprintf("127.0.0.1:%d", webhook),
			"health":  fmt.Sprintf("127.0.0.1:%d", health),
			"metrics": "0",
		},
		"certificates": map[string]any{"hosts": []string{"127.0.0.1"}},
		"diagnosis": map[string]any{
			"pendingAfter": "2s", "refresh": "5s", "discovery": "2s", "debounce": "200ms",
		},
		"llm": map[string]any{"provider": "openai", "baseURL": l.Model.URL, "model": fakellm.Grounded},
	}
	maps.Copy(all, more)
	return all
}

// SignalboxLog is what `signalbox serve` has logged so far.
func (l *Line) SignalboxLog() (string, error) {
	text, err := os.ReadFile(filepath.Join(l.LogDir(), "signalbox.log"))
	return string(text), err
}

// Repository is the project's root: the folder with go.mod above the working directory.
func Repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("find the project: no go.mod here or above")
		}
		dir = filepath.Dir(dir)
	}
}
