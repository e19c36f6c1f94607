package job

import (
	"slices"
	"strconv"
	"strings"
)

// Launch is how a role starts its processes, as read from command, arguments and
// environment, and from the fields of the kind that say the same. Zero values mean that
// the source does not say, or says it in a way that only a shell or a node can resolve.
type Launch struct {
	Program             string // torchrun, mpirun, colossalai, deepspeed, accelerate, python …
	ProcsPerNode, Nodes Range
	Procs               Range // all processes together (mpirun -np, accelerate --num_processes)
	Backend, Rendezvous string
	Path                Path     // where the command is written
	Script              Path     // the shell script that it stands in; empty: in none
	Line                int      // of Script, from 1
	ProcsPath           Path     // where ProcsPerNode (else Procs) is written, also as auto or $X; empty: neither is
	ProcsOfRuntime      bool     // ProcsPerNode is a number that the job's runtime writes, and the launcher is told
	RendezvousPath      Path     // where Rendezvous is written; empty: not in the command
	NodesPath           Path     // where Nodes is written, also as $X; empty: it is not
	Unread              []string // arguments that were seen and not understood
	// Flags are the launcher's own flags that were seen, known or not, without leading dashes
	// and with - for _, in their order.
	Flags []string
	// NodeRank is the rank of the node where the launcher was told one, as written or as $X.
	NodeRank Word
	// Glued are flags that were written together with their value as one word: "-np 32".
	Glued []Word
	// Slots are what the operator's own list of hosts has room for, where mpirun keeps to it.
	Slots Slots
	// Args is what follows the launcher's own flags: the program that it starts and its
	// arguments. nil where several commands start different ones.
	Args []Word
}

// Slots are the hosts of a list for mpirun, and how many processes each of them takes. Zero: the
// operator writes no such list, or how long it is, is not known.
type Slots struct{ Hosts, Each int }

// Word is one word of a command line. References to literal variables are resolved;
// everything else that a shell or the kubelet would replace stays as it is written.
type Word struct {
	Text string
	Path Path
}

// Said tells a range that the source states from one it does not.
func (r Range) Said() bool { return r != Range{} }

// Fixed tells a stated range of one number from all others.
func (r Range) Fixed() bool { return r.Said() && r.Min == r.Max }

// Has says whether the launcher was given one of the flags: "rdzv-endpoint".
func (l *Launch) Has(flags ...string) bool {
	return slices.ContainsFunc(l.Flags, func(f string) bool { return slices.Contains(flags, f) })
}

// Arg is the value of an argument of the program that is launched, written as --name=value
// or --name value, with - and _ taken for one. ok is false where the argument is not there,
// has no value, or is there more than once.
func (l *Launch) Arg(name string) (value Word, ok bool) {
	for i, w := range l.Args {
		flag, inline, joined := strings.Cut(w.Text, "=")
		if !strings.HasPrefix(flag, "-") || strings.ReplaceAll(strings.TrimLeft(flag, "-"), "_", "-") != name {
			continue
		}
		if ok {
			return Word{}, false
		}
		switch {
		case joined:
			value, ok = Word{Text: strings.Trim(inline, `"'`), Path: w.Path}, true
		case i+1 < len(l.Args):
			value, ok = l.Args[i+1], true
		}
	}
	return value, ok
}

// Count is an argument's value as a whole number above zero.
func (l *Launch) Count(name string) (n int64, at Path, ok bool) {
	w, found := l.Arg(name)
	if !found {
		return 0, "", false
	}
	n, err := strconv.ParseInt(w.Text, 10, 32)
	return n, w.Path, err == nil && n > 0
}
