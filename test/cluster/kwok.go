package cluster

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
)

// stages say what becomes of a pod or a node, one file per state. kwok's own stages make nodes Ready.
//
//go:embed stages/*.yaml
var stages embed.FS

// everyPodHasALog answers for pods that were given no log: like a container that has not printed yet.
const everyPodHasALog = `apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterLogs
metadata: {name: silent}
spec:
  logs:
  - {logsFile: %[1]q, previousLogsFile: %[1]q}
`

func (c *Cluster) startKwok(ctx context.Context) error {
	if err := c.InstallCRDs(ctx, Kwok); err != nil {
		return err
	}
	configs, err := c.writeStages()
	if err != nil {
		return fmt.Errorf("write stages: %w", err)
	}
	return c.run(ctx, "kwok", 1, func(port []int) (launch, error) {
		c.kwokPort = port[0]
		address := fmt.Sprintf("127.0.0.1:%d", port[0])
		args := []string{
			"--kubeconfig", c.kubeconfigOf("kwok"), "--manage-all-nodes",
			"--node-ip", "127.0.0.1", "--node-port", fmt.Sprint(port[0]), "--server-address", address,
			"--tls-cert-file", c.pki.file(servingCert), "--tls-private-key-file", c.pki.file(servingKey),
			"--node-lease-duration-seconds", "40", // without leases nodes go NotReady after 40 s
			"--enable-crds", "Logs",
		}
		for _, path := range configs {
			args = append(args, "--config", path)
		}
		return launch{args: args, ready: c.answers("https://" + address + "/healthz")}, nil
	})
}

// writeStages returns kwok's configuration files; the caller's come first, because the first ClusterLogs
// that matches a pod wins.
func (c *Cluster) writeStages() ([]string, error) {
	var paths []string
	for _, path := range c.options.KwokConfig {
		path, err := filepath.Abs(path) // kwok runs in a folder of its own
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	upstream, err := filepath.Glob(filepath.Join(c.bin, "stages", "*.yaml"))
	if err != nil {
		return nil, err
	}
	paths = append(paths, upstream...)

	own, err := stages.ReadDir("stages")
	if err != nil {
		return nil, err
	}
	for _, entry := range own {
		content, err := stages.ReadFile("stages/" + entry.Name())
		if err != nil {
			return nil, err
		}
		path := c.path("kwok", entry.Name())
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}

	silent := c.path("podlogs", "silent.log")
	if err := os.WriteFile(silent, nil, 0o600); err != nil {
		return nil, err
	}
	fallback := c.path("kwok", "silent.yaml")
	return append(paths, fallback), os.WriteFile(fallback, fmt.Appendf(nil, everyPodHasALog, silent), 0o600)
}
