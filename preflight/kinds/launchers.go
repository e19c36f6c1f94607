package kinds

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// setting is what a flag of a launcher tells.
type setting int

const (
	ignored setting = iota // takes a value that does not matter here
	bare                   // takes none
	pair                   // takes two words
	nodes
	procsPerNode
	procs
	procsMin
	procsMax
	backend
	rendezvous
	nodeRank
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
		"launcher": ignored, "launcher-args": ignored, "ssh-port": ignored, "node-rank": nodeRank,
	},
	"accelerate": {
		"num-processes": procs, "num-machines": nodes, "main-process-ip": rendezvous, "rdzv-backend": backend,
		"multi-gpu": bare, "use-deepspeed": bare, "use-fsdp": bare, "cpu": bare, "same-network": bare, "debug": bare,
		"m": bare, "module": bare, "no-python": bare,
		"config-file": ignored, "mixed-precision": ignored, "machine-rank": nodeRank, "main-process-port": ignored,
		"dynamo-backend": ignored, "gpu-ids": ignored, "num-cpu-threads-per-process": ignored, "deepspeed-config-file": ignored,
		"zero-stage": ignored, "max-restarts": ignored, "monitor-interval": ignored, "rdzv-conf": ignored,
	},
	"colossalai":    colossalaiFlags,
	"colossalairun": colossalaiFlags,
	"composer": {
		"n": procsPerNode, "nproc": procsPerNode, "world-size": procs, "master-addr": rendezvous,
		"m": bare, "v": bare, "verbose": bare, "module-mode": bare,
		"node-rank": nodeRank, "base-rank": ignored, "master-port": ignored, "run-directory": ignored,
	},
}

var colossalaiFlags = launcher{
	"nproc-per-node": procsPerNode, "num-nodes": nodes, "master-addr": rendezvous, "m": bare,
	"hostfile": ignored, "H": ignored, "host": ignored, "include": ignored, "exclude": ignored,
	"master-port": ignored, "extra-launch-args": ignored, "ssh-port": ignored,
}

var torchrunFlags = launcher{
	"nnodes": nodes, "nproc-per-node": procsPerNode, "rdzv-backend": backend, "rdzv-endpoint": rendezvous,
	"master-addr": rendezvous, "master": rendezvous, "standalone": bare, "no-python": bare, "run-path": bare, "m": bare, "module": bare,
	"use-env": bare, "virtual-local-rank": bare, "duplicate-stdout-filters": ignored,
	"rdzv-id": ignored, "rdzv-conf": ignored, "max-restarts": ignored, "monitor-interval": ignored,
	"start-method": ignored, "role": ignored, "log-dir": ignored, "r": ignored, "redirects": ignored, "t": ignored, "tee": ignored,
	"node-rank": nodeRank, "master-port": ignored, "local-addr": ignored, "local-ranks-filter": ignored, "logs-specs": ignored,
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

// argument is one flag with its value.
type argument struct {
	flag, value string
	what        setting
	known       bool
	at          job.Path // where the value is written
}

// flags reads the arguments up to the program that is launched and says where that begins.
func (f launcher) flags(l *job.Launch, cmd command, value func(string) string) (program int) {
	for i := 0; i < len(cmd.words); {
		if w := cmd.words[i]; glued(w) {
			l.Unread = append(l.Unread, strconv.Quote(cut(w))+" is one argument")
			flag := flagName(strings.Fields(w)[0])
			l.Flags = append(l.Flags, flag)
			if _, known := f[flag]; known {
				l.Glued = append(l.Glued, job.Word{Text: w, Path: cmd.at[i]})
			}
			i++
			continue
		}
		arg, next := f.argument(cmd, i)
		if next == i {
			return i // the program begins
		}
		i = next
		l.Flags = append(l.Flags, flagName(arg.flag))
		text := value(strings.Trim(arg.value, `"'`))
		switch {
		case !arg.known:
			l.Unread = append(l.Unread, cut(arg.flag))
		case !arg.what.apply(l, text, arg.at):
			l.Unread = append(l.Unread, cut(arg.flag+" "+text))
		}
	}
	return len(cmd.words)
}

// flagName is a flag as the tables spell it: --nproc_per_node=8 is nproc-per-node.
func flagName(flag string) string {
	name, _, _ := strings.Cut(flag, "=")
	return strings.ReplaceAll(strings.TrimLeft(name, "-"), "_", "-")
}

// glued says whether a flag and its value were written as one word: "-np 32".
func glued(w string) bool {
	name, _, _ := strings.Cut(w, "=")
	return strings.HasPrefix(name, "-") && strings.ContainsAny(name, " \t")
}

// argument reads the flag at position i and returns where the next one begins; i itself
// means that there is no flag.
func (f launcher) argument(cmd command, i int) (argument, int) {
	name, inline, joined := strings.Cut(cmd.words[i], "=")
	if !strings.HasPrefix(name, "-") || strings.Trim(name, "-") == "" {
		return argument{}, i
	}
	arg := argument{flag: cmd.words[i], value: inline, at: cmd.at[i]}
	arg.what, arg.known = f[flagName(name)]
	words := 1
	switch {
	case joined, arg.what == bare:
		words = 0
	case arg.what == pair:
		words = 2
	case !arg.known && (i+1 >= len(cmd.words) || isProgram(cmd.words[i+1])):
		words = 0
	}
	if last := i + words; words > 0 && last < len(cmd.words) {
		arg.value, arg.at = cmd.words[last], cmd.at[last]
	}
	if arg.known {
		arg.flag = name
	}
	return arg, i + 1 + words
}

// isProgram guesses that a word is the next flag, or what is launched, and not the value
// of a flag that is not known.
func isProgram(w string) bool {
	return strings.HasPrefix(w, "-") || strings.HasSuffix(w, ".py") || strings.HasSuffix(w, ".sh") || strings.HasPrefix(path.Base(w), "python") || strings.HasPrefix(w, "/")
}

// apply takes over one value; false: it was not understood.
func (s setting) apply(l *job.Launch, text string, at job.Path) bool {
	switch s {
	case nodes:
		l.NodesPath = at
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
		l.Rendezvous, l.RendezvousPath = text, at
	case nodeRank:
		l.NodeRank = job.Word{Text: text, Path: at}
	case mapping:
		if parts := strings.Split(text, ":"); len(parts) >= 3 && parts[0] == "ppr" && parts[2] == "node" {
			l.ProcsPath = at
			return counts(&l.ProcsPerNode, parts[1])
		}
	case ignored, bare, pair: // known, and of no interest
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
