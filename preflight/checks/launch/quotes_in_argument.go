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
		facts.EachContainer(p.Job, func(r *job.Role, c *corev1.Container, rel job.Path) {
			shell := false
			facts.EachWord(c, func(word string, _ job.Path) { shell = shell || isShell(word) })
			if shell || p.Operator.SSHD.Replaces {
				return
			}
			first, flag, times := job.Path(""), "", 0
			facts.EachWord(c, func(word string, at job.Path) {
				if m := quotedValue.FindStringSubmatch(word); m != nil {
					if times++; times == 1 {
						first, flag = at, m[1]+"="+facts.Masked(job.Path(m[1]), facts.Quoted(m[2]))
					}
				}
			})
			if times > 0 {
				p.Reportf(r.Pod.At(rel.Join(first)), "%s gets %s with its quotes%s: no shell removes them", facts.Whose(c.Name, r.Name), flag, facts.AndMore(times))
			}
		})
	},
}

// quotedValue is a flag whose value is all in quotes: --name='value'.
var quotedValue = regexp.MustCompile(`^(--?[A-Za-z][\w.-]*)=('[^']*'|"[^"]*")$`)

// isShell says whether a word is the name of a shell.
func isShell(word string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "zsh", "ksh"}, path.Base(word))
}
