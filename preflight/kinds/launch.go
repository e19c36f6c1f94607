package kinds

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// command is one program with its arguments, and where each word is written.
type command struct {
	words []string
	at    []job.Path
	shell bool // the words come from a shell script
	line  int  // of the script where the command begins, from 1; 0: it is no script
}

// launchOf reads how a container starts its processes. It would rather say nothing than
// something wrong: what a shell would compute, and what it does not know, is kept as
// unread text.
func launchOf(c *corev1.Container, at func(job.Path) job.Path) job.Launch {
	all := argv(c, at)
	if len(all.words) == 0 {
		return job.Launch{}
	}
	var found []job.Launch
	for _, cmd := range scripts(all) {
		if l, ok := parse(cmd, literals(c, cmd.shell)); ok {
			if cmd.line > 0 {
				l.Script, l.Line = cmd.at[0], cmd.line
			}
			found = append(found, l)
		}
	}
	out := agree(found)
	out.Path = at("args")
	if len(c.Command) > 0 {
		out.Path = at("command")
	}
	return out
}

func argv(c *corev1.Container, at func(job.Path) job.Path) command {
	var out command
	for i, w := range c.Command {
		out.words, out.at = append(out.words, w), append(out.at, at(job.Path("command").Index(i)))
	}
	for i, w := range c.Args {
		out.words, out.at = append(out.words, w), append(out.at, at(job.Path("args").Index(i)))
	}
	return out
}

// agree makes one launch of several commands in a script: numbers on which they do not
// agree are not known.
func agree(all []job.Launch) job.Launch {
	if len(all) == 0 {
		return job.Launch{}
	}
	best := slices.IndexFunc(all, func(l job.Launch) bool { return l.Program != "python" })
	out := all[max(best, 0)]
	for _, l := range all {
		if l.Program == "python" || l.Program == out.Program && l.ProcsPerNode == out.ProcsPerNode && l.Nodes == out.Nodes && l.Procs == out.Procs {
			continue
		}
		out.ProcsPerNode, out.Nodes, out.Procs, out.ProcsPath, out.NodesPath = job.Range{}, job.Range{}, job.Range{}, "", ""
		out.Unread = append(out.Unread, "more than one launch with different numbers")
		break
	}
	return together(out, all)
}

// together keeps of several commands what holds for all of them: flags that any of them
// has, and arguments only where they are the same.
func together(out job.Launch, all []job.Launch) job.Launch {
	out.Flags = slices.Clone(out.Flags)
	have := make(map[string]bool, len(out.Flags)) // an author may write tens of thousands
	for _, f := range out.Flags {
		have[f] = true
	}
	for _, l := range all {
		if l.Program != out.Program {
			continue
		}
		if !slices.Equal(l.Args, out.Args) {
			out.Args = nil
		}
		for _, f := range l.Flags {
			if !have[f] {
				have[f], out.Flags = true, append(out.Flags, f)
			}
		}
	}
	return out
}

// variable is a reference to a whole value: $(X) is resolved by the kubelet, $X and ${X}
// by a shell.
var variable = regexp.MustCompile(`^(?:\$\(([A-Za-z_][A-Za-z0-9_]*)\)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*))$`)

// operatorsOwn are variables that an operator sets over the user's: their literal value
// in the source says nothing.
var operatorsOwn = regexp.MustCompile(`^(PET_.*|MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK|TF_CONFIG|PADDLE_.*|NUM_PROCESSES|PROCESS_ID|COORDINATOR_.*)$`)

// literals resolves references to the container's literal environment.
func literals(c *corev1.Container, shell bool) func(string) string {
	values := sync.OnceValue(func() map[string]string { // most commands refer to nothing
		out := make(map[string]string, len(c.Env))
		for _, e := range c.Env {
			if e.ValueFrom == nil && e.Value != "" && !operatorsOwn.MatchString(e.Name) {
				out[e.Name] = e.Value
			}
		}
		return out
	})
	return func(word string) string {
		m := variable.FindStringSubmatch(word)
		if m == nil || !shell && m[1] == "" {
			return word
		}
		if value, ok := values()[m[1]+m[2]+m[3]]; ok {
			return value
		}
		return word
	}
}

// wrappers start another program and are not the one that is looked for.
var wrappers = []string{"exec", "env", "nohup", "time", "sudo", "nice", "tini", "dumb-init", "stdbuf", "numactl", "--", "neuron_parallel_compile"}

// parse finds the launcher of one command. Words before it that only wrap it, set
// variables or are entrypoint scripts are passed over.
func parse(cmd command, value func(string) string) (job.Launch, bool) {
	i := 0
	for i < len(cmd.words) {
		w := cmd.words[i]
		wrapped := i > 0 && strings.HasPrefix(w, "-")
		if !wrapped && !slices.Contains(wrappers, path.Base(w)) && !assignment.MatchString(w) && !strings.HasSuffix(w, "entrypoint.sh") {
			break
		}
		i++
	}
	if i >= len(cmd.words) {
		return job.Launch{}, false
	}
	program, skip := programOf(cmd.words[i:])
	if program == "" {
		return job.Launch{}, false
	}
	l := job.Launch{Program: program}
	rest := command{words: cmd.words[i+skip:], at: cmd.at[i+skip:], shell: cmd.shell}
	begins := 0
	if known, ok := launchers[program]; ok {
		begins = known.flags(&l, rest, value)
	}
	l.Args = arguments(rest, begins, value)
	return l, true
}

// arguments are the words from a position on, with literal variables resolved.
func arguments(cmd command, from int, value func(string) string) []job.Word {
	var out []job.Word
	for i := from; i < len(cmd.words); i++ {
		text := cmd.words[i]
		if flag, given, joined := strings.Cut(text, "="); joined && strings.HasPrefix(flag, "-") {
			text = flag + "=" + value(given)
		} else {
			text = value(text)
		}
		out = append(out, job.Word{Text: text, Path: cmd.at[i]})
	}
	return out
}

// programOf names the launcher that the words begin with and says how many words that
// takes; empty: none that is known.
func programOf(words []string) (string, int) {
	base := path.Base(words[0])
	switch {
	case slices.Contains([]string{"torchrun", "mpirun", "mpiexec", "horovodrun", "deepspeed", "composer", "colossalairun", "mpiexec.hydra"}, base):
		return strings.TrimSuffix(base, ".hydra"), 1
	case len(words) > 1 && slices.Contains([]string{"colossalai run", "tune run", "accelerate launch", "vllm serve"}, base+" "+words[1]):
		return base, 2
	case strings.HasPrefix(base, "python"):
		return pythonProgram(words)
	default:
		return "", 0
	}
}

// modules are the launchers that are started as python -m.
var modules = map[string]string{
	"torch.distributed.run": "torchrun", "torch.distributed.launch": "torchrun",
	"accelerate.commands.launch": "accelerate", "deepspeed.launcher.runner": "deepspeed",
	"paddle.distributed.launch":          "paddle",
	"vllm.entrypoints.openai.api_server": "vllm", "sglang.launch_server": "sglang",
}

func pythonProgram(words []string) (string, int) {
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-m" && i+1 < len(words):
			if program, ok := modules[words[i+1]]; ok {
				return program, i + 2
			}
			return "python", i + 2
		case w == "-X" || w == "-W":
			i++
		case strings.HasPrefix(w, "-"):
		default:
			return "python", i
		}
	}
	return "python", len(words)
}
