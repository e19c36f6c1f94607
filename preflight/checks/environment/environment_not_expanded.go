package environment

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var environmentNotExpanded = &check.Check{
	Name:     "environment-not-expanded",
	Title:    "a variable is meant to grow and is replaced by its own name",
	Remedy:   "Write the whole value, or set the variable in the command, where a shell expands it.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for _, e := range facts.EachVariable(p.Job) {
			parts, form := strings.Split(e.Value, ":"), "$("+e.Name+")"
			switch {
			case strings.Contains(e.Value, hostName) && !strings.Contains(e.Value, "$"+hostName) && !slices.ContainsFunc(e.In.Env, isHostName) && len(e.In.EnvFrom) == 0:
				p.Reportf(e.At, "%s keeps the text %s: the container runtime sets HOSTNAME, which Kubernetes does not know when it replaces $(HOSTNAME)", e.Name, facts.Quoted(e.Value))
			case e.ValueFrom != nil || len(parts) == 1: // alone, it is a template's
			case slices.Contains(parts, "$"+e.Name) || slices.Contains(parts, "${"+e.Name+"}"):
				p.Reportf(e.At, "%s keeps the text %s: Kubernetes replaces only $(NAME) in a value, and no shell reads it", e.Name, facts.Quoted(e.Value))
			case slices.Contains(parts, form) && !above(e.In, e.EnvVar) && len(e.In.EnvFrom) == 0:
				p.Reportf(e.At, "%s keeps the text %s: no variable that is listed above it replaces %s", e.Name, facts.Quoted(e.Value), form)
			}
		}
	},
}

// hostName is a variable of every container that Kubernetes itself does not set
// (https://kubernetes.io/docs/tasks/inject-data-application/define-interdependent-environment-variables/).
const hostName = "$(HOSTNAME)"

func isHostName(v corev1.EnvVar) bool { return v.Name == "HOSTNAME" }

// above says whether an earlier variable of the container has the same name.
func above(c *corev1.Container, e *corev1.EnvVar) bool {
	first := slices.IndexFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == e.Name })
	return &c.Env[first] != e
}
