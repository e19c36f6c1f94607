package launch

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var commandIsOneWord = &check.Check{
	Name:     "command-is-one-word",
	Title:    "the command line is written as the name of one program",
	Remedy:   "Write each word as an element of the list, or hand the line to a shell: [bash, -c, …].",
	Severity: finding.Error, Since: "0.1",
	Run: func(p *check.Pass) {
		facts.EachContainer(p.Job, func(r *job.Role, c *corev1.Container, rel job.Path) {
			if len(c.Command) == 0 || p.Operator.SSHD.Replaces {
				return // sshd runs instead
			}
			words := strings.Fields(c.Command[0])
			if len(words) < 2 || !program(words[0]) {
				return
			}
			p.Reportf(r.Pod.At(rel.Child("command").Index(0)), "the command of %s is %s, %d words in one string; no program has that name", facts.Whose(c.Name, r.Name), facts.Quoted(c.Command[0]), len(words))
		})
	},
}

// program says whether a word is the name of a program that begins many a command line.
func program(word string) bool {
	base := path.Base(word)
	return strings.HasPrefix(base, "python") || slices.Contains([]string{
		"torchrun", "mpirun", "mpiexec", "horovodrun", "deepspeed", "accelerate", "composer", "colossalai", "colossalairun",
		"bash", "sh", "zsh", "sleep", "tail", "echo", "env", "nohup", "exec", "cd", "export", "source", "pip", "git",
	}, base)
}
