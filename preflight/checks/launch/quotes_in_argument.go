package launch

import (
	"path"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var quotesInArgument = &check.Check{
	Name:     "quotes-in-argument",
	Title:    "quotes around a value reach the program",
	Remedy:   "Remove the quotes inside the word; YAML needs none there.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			if usesShell(c.Container) || p.Operator.SSHD.Replaces {
				continue
			}
			first, flag, times, before := job.Path(""), "", 0, ""
			facts.EachWord(c.Container, func(word string, at job.Path) {
				m := quotedValue.FindStringSubmatch(word)
				if before == "-x" { // mpirun hands the variable on as it is written
					m = quotedVariable.FindStringSubmatch(word)
				}
				if before = word; m != nil {
					if times++; times == 1 {
						first, flag = at, m[1]+"="+facts.Masked(job.Path(m[1]), facts.Quoted(m[2]))
					}
				}
			})
			if times > 0 {
				p.Reportf(r.Pod.At(c.Rel.Join(first)), "%s gets %s with its quotes%s: no shell removes them", facts.Whose(c.Name, r.Name), flag, facts.AndMore(times))
			}
		}
	},
}

// quotedValue is a flag whose value is all in quotes: --name='value'.
var quotedValue = regexp.MustCompile(`^(--?[A-Za-z][\w.-]*)=('[^']*'|"[^"]*")$`)

// quotedVariable is a variable whose value is all in quotes: NAME='value'.
var quotedVariable = regexp.MustCompile(`^([A-Za-z_]\w*)=('[^']*'|"[^"]*")$`)

// usesShell says whether a shell may read the words of a container.
func usesShell(c *corev1.Container) bool {
	return slices.ContainsFunc(c.Command, isShell) || slices.ContainsFunc(c.Args, isShell)
}

// isShell says whether a word is the name of a shell.
func isShell(word string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "zsh", "ksh"}, path.Base(word))
}
