package containers

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var sidecarNeverEnds = &check.Check{
	Name:     "sidecar-never-ends",
	Title:    "a container runs on when the training has ended",
	Remedy:   "Make it an init container with restartPolicy: Always, which ends with the pod.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return !o.PolicyEnds },
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		trainer, _ := r.Trainer()
		if trainer == nil || !facts.EndDecides(p.Job, r) {
			return
		}
		for k := range r.Pod.Spec.Containers {
			c := &r.Pod.Spec.Containers[k]
			if own := c.RestartPolicy; own != nil && *own == corev1.ContainerRestartPolicyAlways {
				at := r.Pod.At(job.Path("containers").Index(k).Child("restartPolicy"))
				p.Reportf(at, "container %s of %s has its own restartPolicy Always and is no init container: its pod never completes, and Kubernetes before 1.35 rejects it", c.Name, r.Name)
				continue
			}
			if what := endless(c); c != trainer && what != "" {
				p.Reportf(r.Pod.At(job.Path("containers").Index(k)), "container %s of %s runs %s, which does not end, so the pod never completes", c.Name, r.Name, what)
			}
		}
	}),
}

// services are images whose program serves until it is stopped.
var services = regexp.MustCompile(`(?:^|/)(node[-_]exporter|dcgm-exporter|fluent-?bit|fluentd|filebeat|promtail|telegraf|nginx|redis|envoy|proxyv2|cloud-sql-proxy|gce-proxy|opentelemetry-collector(?:-contrib)?|otel-collector|prometheus|grafana|tensorboard)(?:[:@]|$)`)

// endless is what a container runs that does not end by itself; empty: not known to.
func endless(c *corev1.Container) string {
	flagsOnly := !slices.ContainsFunc(c.Args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if len(c.Command) == 0 && flagsOnly {
		if m := services.FindStringSubmatch(c.Image); m != nil {
			return m[1]
		}
	}
	words := append(append([]string{}, c.Command...), c.Args...)
	switch {
	case slices.Equal(words, []string{"sleep", "infinity"}), slices.Equal(words, []string{"sleep", "inf"}):
		return "sleep infinity"
	case slices.Equal(words, []string{"tail", "-f", "/dev/null"}):
		return "tail -f /dev/null"
	case len(c.Command) > 0 && slices.Contains([]string{"tensorboard", "nginx", "node_exporter", "dcgm-exporter"}, c.Command[0]):
		return c.Command[0]
	}
	return ""
}
