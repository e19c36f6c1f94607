package environment

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var environmentNotExpanded = &check.Check{
	Name:     "environment-not-expanded",
	Title:    "a variable is meant to grow and is replaced by its own name",
	Remedy:   "Write the whole value, or set the variable in the command, where a shell expands it.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		facts.EachVariable(p.Job, func(_ *job.Role, c *corev1.Container, e *corev1.EnvVar, at job.Path) {
			if e.ValueFrom != nil || !strings.Contains(e.Value, ":") {
				return // alone, it is a template's
			}
			for _, form := range []string{"$" + e.Name, "${" + e.Name + "}"} {
				if slices.Contains(strings.Split(e.Value, ":"), form) {
					p.Reportf(at, "%s keeps the text %s: Kubernetes replaces only $(NAME) in a value, and no shell reads it", e.Name, facts.Quoted(e.Value))
					return
				}
			}
			if form := "$(" + e.Name + ")"; slices.Contains(strings.Split(e.Value, ":"), form) && !above(c, e) && len(c.EnvFrom) == 0 {
				p.Reportf(at, "%s keeps the text %s: no variable that is listed above it replaces %s", e.Name, facts.Quoted(e.Value), form)
			}
		})
	},
}

// above says whether an earlier variable of the container has the same name.
func above(c *corev1.Container, e *corev1.EnvVar) bool {
	for i := range c.Env {
		if &c.Env[i] == e {
			return false
		}
		if c.Env[i].Name == e.Name {
			return true
		}
	}
	return false
}
