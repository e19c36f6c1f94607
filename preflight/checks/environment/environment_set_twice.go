package environment

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var environmentSetTwice = &check.Check{
	Name:     "environment-set-twice",
	Title:    "a container sets one variable to two values",
	Remedy:   "Keep the one that is meant; the last one counts.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			for n := range c.Env {
				last, at := facts.Variable(c.Container, c.Env[n].Name)
				if at == n || c.Env[n].Value == last.Value && c.Env[n].ValueFrom == nil && last.ValueFrom == nil || usedBetween(c.Container, n, at) {
					continue
				}
				p.Reportf(r.Pod.At(c.Rel.Child("env").Index(n)), "%s is set to %s here and to %s in env[%d], which wins", last.Name, shownValue(&c.Env[n]), shownValue(last), at)
			}
		}
	},
}

// usedBetween says whether a later variable is made from the one at a position before it
// is set anew: then both values count.
func usedBetween(c *corev1.Container, first, last int) bool {
	for i := first + 1; i <= last; i++ {
		if strings.Contains(c.Env[i].Value, "$("+c.Env[first].Name+")") {
			return true
		}
	}
	return false
}

// shownValue is a variable's value for a message: never one that may be a secret.
func shownValue(e *corev1.EnvVar) string {
	switch {
	case e.ValueFrom != nil:
		return "taken from elsewhere"
	case secretName(e.Name) || facts.SecretIn(e.Value) != "":
		return "one value"
	}
	return facts.Quoted(e.Value)
}
