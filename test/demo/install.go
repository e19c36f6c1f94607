package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/fakellm"
)

// start brings up everything the scenes need.
func (s *stage) start(ctx context.Context, root string) error {
	parts := cluster.Machinery | cluster.TrainingOperator | cluster.JobSet | cluster.Trainer
	c, err := cluster.Start(ctx, cluster.Options{Parts: parts, Progress: s.out})
	if err != nil {
		return err
	}
	s.c = c
	if s.dynamic, err = dynamic.NewForConfig(c.Config()); err != nil {
		return err
	}
	if err := c.InstallCRDs(ctx, 0, filepath.Join(root, "test", "cluster", "crds")); err != nil {
		return err
	}
	if err := c.CreateNodes(ctx, nodes()...); err != nil {
		return err
	}
	if _, err := c.Kubectl(ctx, "cordon", "h100-6"); err != nil {
		return err
	}
	if s.model, err = fakellm.Start(ctx); err != nil {
		return err
	}
	if err := s.install(ctx, root); err != nil {
		return err
	}
	for _, file := range []string{"cluster.yaml", "runtimes.yaml", "policy.yaml"} {
		if _, err := c.Kubectl(ctx, "apply", "-f", filepath.Join(s.folder, file)); err != nil {
			return err
		}
	}
	return s.settled(ctx)
}

// nodes are four free 8-GPU nodes, two that others have fragmented, one that will be
// cordoned, a pool of 4-GPU nodes behind a taint, and two nodes of 24 CPUs.
func nodes() []cluster.Node {
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

// install puts Signalbox into the cluster as a platform team would, except that its process
// runs here, under its own ServiceAccount.
func (s *stage) install(ctx context.Context, root string) error {
	local := filepath.Join(root, "config", "local")
	if _, err := s.c.Kubectl(ctx, "apply", "-k", local); err != nil {
		return err
	}
	kubeconfig, err := s.c.KubeconfigFor(ctx, "signalbox-system", "signalbox")
	if err != nil {
		return err
	}
	config := filepath.Join(s.c.Dir(), "signalbox.yaml")
	return s.c.Run(ctx, cluster.Program{
		Name: "signalbox", Path: filepath.Join(root, "bin", "signalbox"), Ports: 2,
		Args: func(port []int) ([]string, error) {
			if err := s.point(ctx, port[0]); err != nil {
				return nil, err
			}
			args := []string{"serve", "--config", config, "--kubeconfig", kubeconfig}
			return args, os.WriteFile(config, []byte(s.config(port[0], port[1])), 0o600)
		},
		Ready: func(ctx context.Context, port []int) error {
			return cluster.Answers(ctx, fmt.Sprintf("http://127.0.0.1:%d/readyz", port[1]))
		},
	})
}

// point makes the API server call the webhook on the port of this run.
func (s *stage) point(ctx context.Context, port int) error {
	patch := fmt.Sprintf(`[{"op":"replace","path":"/webhooks/0/clientConfig/url","value":"https://127.0.0.1:%d/validate"}]`, port)
	_, err := s.c.Kubectl(ctx, "patch", "validatingwebhookconfiguration", "signalbox", "--type=json", "-p", patch)
	return err
}

func (s *stage) config(webhookPort, healthPort int) string {
	return fmt.Sprintf(`listen:
  webhook: 127.0.0.1:%d
  health: 127.0.0.1:%d
  metrics: "0"
certificates:
  hosts: [127.0.0.1]
diagnosis:
  pendingAfter: 2s
  refresh: 5s
  discovery: 2s
  debounce: 200ms
llm:
  provider: openai
  baseURL: %s
  model: %s
`, webhookPort, healthPort, s.model.URL, fakellm.Grounded)
}

// settled waits until the pods that fragment the cluster run.
func (s *stage) settled(ctx context.Context) error {
	_, err := s.c.Kubectl(ctx, "wait", "-n", "ml", "--for=condition=Ready", "pod", "--all", "--timeout=30s")
	return err
}

func binPath() string {
	root, err := repository()
	if err != nil {
		return "bin"
	}
	return filepath.Join(root, "bin") + ":" + filepath.Join(root, "bin", "controlplane")
}
