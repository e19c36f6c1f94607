package kinds

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Command is one program that a container starts, word by word, as far as that is known
// before a kubelet or a shell has resolved anything.
type Command struct {
	Words []string
	At    []job.Path // of each word, below the container: args[2]
}

// Commands are the programs that command and arguments of a container start: itself, or
// the simple commands of the script that it hands to a shell. References to literal
// variables of the container are replaced; what a shell would compute stays as it is written.
func Commands(c *corev1.Container) []Command {
	all := argv(c, func(p job.Path) job.Path { return p })
	if len(all.words) == 0 {
		return nil
	}
	var out []Command
	for _, cmd := range scripts(all) {
		value := literals(c, cmd.shell)
		words := make([]string, len(cmd.words))
		for i, w := range cmd.words {
			words[i] = value(w)
			if flag, v, joined := strings.Cut(w, "="); joined && flag != "" {
				words[i] = flag + "=" + value(v)
			}
		}
		out = append(out, Command{Words: words, At: cmd.at})
	}
	return out
}
