package launch

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var shellVariableWithoutShell = &check.Check{
	Name:     "shell-variable-without-shell",
	Title:    "a command without a shell counts on one",
	Remedy:   "Write $(NAME), which Kubernetes replaces, or run the command in a shell.",
	Severity: finding.Warning, Since: "0.1",
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		for k := range r.Pod.Spec.Containers {
			c := &r.Pod.Spec.Containers[k]
			if !startsItself(c) || p.Operator.SSHD.Replaces {
				continue
			}
			known := facts.SetByOperator(p.Job, r, k)
			at, form, times := job.Path(""), "", 0
			facts.EachWord(c, func(word string, here job.Path) {
				for _, m := range shellVariable.FindAllStringSubmatch(word, -1) {
					if e, _ := facts.Variable(c, m[1]+m[2]); e == nil && !slices.Contains(known, m[1]+m[2]) {
						continue
					}
					if times++; times == 1 {
						at, form = job.Path("containers").Index(k).Join(here), m[0]+" is not replaced in "+facts.Quoted(word)
					}
				}
			})
			if times > 0 {
				p.Reportf(r.Pod.At(at), "%s%s: %s runs without a shell", form, facts.AndMore(times), facts.Whose(c.Name, r.Name))
			}
		}
	}),
}

// shellVariable is $X or ${X}.
var shellVariable = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// startsItself says whether the container starts a known program directly, and no shell
// reads any of its words.
func startsItself(c *corev1.Container) bool {
	return len(c.Command) > 0 && program(c.Command[0]) && !usesShell(c)
}
