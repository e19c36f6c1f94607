package job

// Launch is how a role starts its processes, as read from command, arguments and
// environment, and from the fields of the kind that say the same. Zero values mean that
// the source does not say, or says it in a way that only a shell or a node can resolve.
type Launch struct {
	Program             string // torchrun, mpirun, colossalai, deepspeed, accelerate, python …
	ProcsPerNode, Nodes Range
	Procs               Range // all processes together (mpirun -np, accelerate --num_processes)
	Backend, Rendezvous string
	Path                Path     // where the command is written
	ProcsPath           Path     // where ProcsPerNode (else Procs) is written, also as auto or $X; empty: neither is
	Unread              []string // arguments that were seen and not understood
}

// Said tells a range that the source states from one it does not.
func (r Range) Said() bool { return r != Range{} }
