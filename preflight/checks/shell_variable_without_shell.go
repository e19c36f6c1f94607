package checks

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var shellVariableWithoutShell = &check.Check{
	Name:     "shell-variable-without-shell",
	Title:    "a command without a shell counts on one",
	Doc:      readme("shell-variable-without-shell"),
	Remedy:   "Write $(NAME), which Kubernetes replaces, or run the command in a shell.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) error {
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			for k := range r.Pod.Spec.Containers {
				c := &r.Pod.Spec.Containers[k]
				if !startsItself(c) || p.Operator.SSHD.Replaces {
					continue
				}
				known := setByOperator(p.Job, r, k)
				at, form, times := job.Path(""), "", 0
				eachWord(c, func(word string, here job.Path) {
					for _, m := range shellVariable.FindAllStringSubmatch(word, -1) {
						if e, _ := variable(c, m[1]+m[2]); e == nil && !slices.Contains(known, m[1]+m[2]) {
							continue
						}
						if times++; times == 1 {
							at, form = job.Path("containers").Index(k).Join(here), m[0]+" is not replaced in "+quoted(word)
						}
					}
				})
				if times > 0 {
					p.Reportf(r.Pod.At(at), "%s%s: %s runs without a shell", form, andMore(times), whose(c.Name, r.Name))
				}
			}
		}
		return nil
	},
}

// shellVariable is $X or ${X}.
var shellVariable = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// startsItself says whether the container starts a known program directly, and no shell
// reads any of its words.
func startsItself(c *corev1.Container) bool {
	if len(c.Command) == 0 || !program(c.Command[0]) {
		return false
	}
	shell := false
	eachWord(c, func(word string, _ job.Path) { shell = shell || isShell(word) })
	return !shell
}

// eachWord visits command and arguments of a container; at is relative to it.
func eachWord(c *corev1.Container, visit func(word string, at job.Path)) {
	for i, w := range c.Command {
		visit(w, job.Path("command").Index(i))
	}
	for i, w := range c.Args {
		visit(w, job.Path("args").Index(i))
	}
}
