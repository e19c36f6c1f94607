package launch

import (
	"path"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var commandIsOneWord = &check.Check{
	Name:     "command-is-one-word",
	Title:    "the command line is written as the name of one program",
	Remedy:   "Write each word as an element of the list, or hand the line to a shell: [bash, -c, …].",
	Severity: finding.Error, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			if len(c.Command) == 0 || p.Operator.SSHD.Replaces {
				continue // sshd runs instead
			}
			words := strings.Fields(c.Command[0])
			if len(words) < 2 || !program(words[0]) {
				continue
			}
			p.Reportf(r.Pod.At(c.Rel.Child("command").Index(0)), "the command of %s is %s, %d words in one string; no program has that name", facts.Whose(c.Name, r.Name), facts.Quoted(c.Command[0]), len(words))
		}
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
