package kinds

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// command is one program with its arguments, and where each word is written.
type command struct {
	words []string
	at    []job.Path
	shell bool // the words come from a shell script
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
		out.ProcsPerNode, out.Nodes, out.Procs, out.ProcsPath = job.Range{}, job.Range{}, job.Range{}, ""
		out.Unread = append(out.Unread, "more than one launch with different numbers")
		break
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
	return func(word string) string {
		m := variable.FindStringSubmatch(word)
		if m == nil || !shell && m[1] == "" {
			return word
		}
		name := m[1] + m[2] + m[3]
		for _, e := range slices.Backward(c.Env) {
			if e.Name == name && e.ValueFrom == nil && e.Value != "" && !operatorsOwn.MatchString(name) {
				return e.Value
			}
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
	if known, ok := launchers[program]; ok {
		known.flags(&l, command{words: cmd.words[i+skip:], at: cmd.at[i+skip:], shell: cmd.shell}, value)
	}
	return l, true
}

// programOf names the launcher that the words begin with and says how many words that
// takes; empty: none that is known.
func programOf(words []string) (string, int) {
	base := path.Base(words[0])
	switch {
	case slices.Contains([]string{"torchrun", "mpirun", "mpiexec", "horovodrun", "deepspeed", "composer", "colossalairun", "mpiexec.hydra"}, base):
		return strings.TrimSuffix(base, ".hydra"), 1
	case (base == "colossalai" || base == "tune") && len(words) > 1 && words[1] == "run",
		base == "accelerate" && len(words) > 1 && words[1] == "launch":
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
	"paddle.distributed.launch": "paddle",
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

// setting is what a flag of a launcher tells.
type setting int

const (
	ignored setting = iota // takes a value that does not matter here
	bare                   // takes none
	pair                   // takes two words
	module                 // what follows is the program
	nodes
	procsPerNode
	procs
	procsMin
	procsMax
	backend
	rendezvous
	mapping // ppr:8:node
)

// launcher is the command line of one launcher: its flags without dashes, - for _.
type launcher map[string]setting

// Sources: torchrun (pytorch v2.8 torch/distributed/run.py), mpirun (Open MPI 4.1 and 5.0
// and MPICH manual pages), deepspeed 0.17 launcher/runner.py, accelerate 1.10
// commands/launch.py, colossalai 0.5 cli/launcher, composer 0.32 cli/launcher.py,
// horovodrun 0.28, paddle 3.1 distributed/launch.
var launchers = map[string]launcher{
	"torchrun": torchrunFlags, "tune": torchrunFlags, "paddle": torchrunFlags,
	"mpirun": mpirunFlags, "mpiexec": mpirunFlags, "horovodrun": mpirunFlags,
	"deepspeed": {
		"num-gpus": procsPerNode, "num-nodes": nodes, "master-addr": rendezvous,
		"module": bare, "no-python": bare, "no-local-rank": bare, "no-ssh": bare, "bind-cores-to-rank": bare,
		"hostfile": ignored, "include": ignored, "i": ignored, "exclude": ignored, "e": ignored, "master-port": ignored,
		"launcher": ignored, "launcher-args": ignored, "ssh-port": ignored, "node-rank": ignored,
	},
	"accelerate": {
		"num-processes": procs, "num-machines": nodes, "main-process-ip": rendezvous, "rdzv-backend": backend,
		"multi-gpu": bare, "use-deepspeed": bare, "use-fsdp": bare, "cpu": bare, "same-network": bare, "debug": bare,
		"m": module, "module": bare, "no-python": bare,
		"config-file": ignored, "mixed-precision": ignored, "machine-rank": ignored, "main-process-port": ignored,
		"dynamo-backend": ignored, "gpu-ids": ignored, "num-cpu-threads-per-process": ignored, "deepspeed-config-file": ignored,
		"zero-stage": ignored, "max-restarts": ignored, "monitor-interval": ignored, "rdzv-conf": ignored,
	},
	"colossalai":    colossalaiFlags,
	"colossalairun": colossalaiFlags,
	"composer": {
		"n": procsPerNode, "nproc": procsPerNode, "world-size": procs, "master-addr": rendezvous,
		"m": module, "v": bare, "verbose": bare, "module-mode": bare,
		"node-rank": ignored, "base-rank": ignored, "master-port": ignored, "run-directory": ignored,
	},
}

var colossalaiFlags = launcher{
	"nproc-per-node": procsPerNode, "num-nodes": nodes, "master-addr": rendezvous, "m": module,
	"hostfile": ignored, "H": ignored, "host": ignored, "include": ignored, "exclude": ignored,
	"master-port": ignored, "extra-launch-args": ignored, "ssh-port": ignored,
}

var torchrunFlags = launcher{
	"nnodes": nodes, "nproc-per-node": procsPerNode, "rdzv-backend": backend, "rdzv-endpoint": rendezvous,
	"master-addr": rendezvous, "master": rendezvous, "standalone": bare, "no-python": bare, "run-path": bare, "m": module, "module": module,
	"use-env": bare, "virtual-local-rank": bare, "duplicate-stdout-filters": ignored,
	"rdzv-id": ignored, "rdzv-conf": ignored, "max-restarts": ignored, "monitor-interval": ignored,
	"start-method": ignored, "role": ignored, "log-dir": ignored, "r": ignored, "redirects": ignored, "t": ignored, "tee": ignored,
	"node-rank": ignored, "master-port": ignored, "local-addr": ignored, "local-ranks-filter": ignored, "logs-specs": ignored,
	"devices": ignored, "gpus": ignored, "job-id": ignored,
}

var mpirunFlags = launcher{
	"np": procs, "n": procs, "c": procs, "min-np": procsMin, "max-np": procsMax, "num-proc": procs,
	"npernode": procsPerNode, "N": procsPerNode, "ppn": procsPerNode, "map-by": mapping, "slots-per-host": procsPerNode,
	"mca": pair, "gmca": pair, "prtemca": pair, "pmixmca": pair, "genv": pair, "env": pair,
	"allow-run-as-root": bare, "tag-output": bare, "oversubscribe": bare, "report-bindings": bare, "verbose": bare, "v": bare, "q": bare,
	"display-map": bare, "nolocal": bare, "bynode": bare, "byslot": bare, "timestamp-output": bare, "enable-recovery": bare, "disable-auto-adopt": bare,
	"x": ignored, "bind-to": ignored, "hostfile": ignored, "machinefile": ignored, "host": ignored, "H": ignored, "f": ignored,
	"wdir": ignored, "wd": ignored, "prefix": ignored, "output": ignored, "timeout": ignored, "iface": ignored, "rank-by": ignored,
	"host-discovery-script": ignored, "hosts": ignored, "network-interface": ignored, "bootstrap": ignored,
}

// flags reads the arguments up to the program that is launched.
func (f launcher) flags(l *job.Launch, cmd command, value func(string) string) {
	for i := 0; i < len(cmd.words); i++ {
		w := cmd.words[i]
		name, inline, joined := strings.Cut(w, "=")
		if !strings.HasPrefix(name, "-") || name == "-" || name == "--" {
			return // the program begins
		}
		if strings.ContainsAny(name, " \t") {
			l.Unread = append(l.Unread, strconv.Quote(cut(w, 60))+" is one argument")
			continue
		}
		key := strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-")
		what, known := f[key]
		switch {
		case known && what == module:
			return
		case known && what == bare, joined && !known:
		case known && what == pair:
			i += 2
			continue
		case !joined && !known && (i+1 >= len(cmd.words) || strings.HasPrefix(cmd.words[i+1], "-") || isProgram(cmd.words[i+1])):
		case !joined:
			i++
			if i < len(cmd.words) {
				inline = cmd.words[i]
			}
		}
		if !known {
			l.Unread = append(l.Unread, cut(w, 60))
			continue
		}
		at := cmd.at[min(i, len(cmd.at)-1)]
		if text := value(strings.Trim(inline, `"'`)); !what.apply(l, text, at) {
			l.Unread = append(l.Unread, cut(name+" "+text, 60))
		}
	}
}

// isProgram guesses that a word is what is launched and not the value of a flag that is
// not known.
func isProgram(w string) bool {
	return strings.HasSuffix(w, ".py") || strings.HasSuffix(w, ".sh") || strings.HasPrefix(path.Base(w), "python") || strings.HasPrefix(w, "/")
}

// apply takes over one value; false: it was not understood.
func (s setting) apply(l *job.Launch, text string, at job.Path) bool {
	switch s {
	case nodes:
		return counts(&l.Nodes, text)
	case procsPerNode:
		l.ProcsPath = at
		if slices.Contains([]string{"auto", "gpu", "cpu", "xpu"}, text) {
			return true
		}
		return counts(&l.ProcsPerNode, text)
	case procs:
		if l.ProcsPath == "" {
			l.ProcsPath = at
		}
		return counts(&l.Procs, text)
	case procsMin, procsMax:
		return s.bound(&l.Procs, text)
	case backend:
		l.Backend = text
	case rendezvous:
		l.Rendezvous = text
	case mapping:
		if parts := strings.Split(text, ":"); len(parts) >= 3 && parts[0] == "ppr" && parts[2] == "node" {
			l.ProcsPath = at
			return counts(&l.ProcsPerNode, parts[1])
		}
	}
	return true
}

func (s setting) bound(r *job.Range, text string) bool {
	n, ok := atoi(text)
	if ok && s == procsMin {
		r.Min = n
	} else if ok {
		r.Max = n
	}
	return ok
}

// counts reads 4 or 1:4.
func counts(r *job.Range, text string) bool {
	low, high, two := strings.Cut(text, ":")
	a, ok := atoi(low)
	b := a
	if ok && two {
		b, ok = atoi(high)
	}
	if !ok || a > b || b > 1<<30 {
		return false
	}
	*r = job.Range{Min: a, Max: b}
	return true
}
