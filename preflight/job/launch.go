package job

// Launch is how a role starts its processes, as read from command, arguments and
// environment. Zero values mean that the source does not say.
type Launch struct {
	Program             string // torchrun, mpirun, colossalai, deepspeed, accelerate, python …
	ProcsPerNode, Nodes Range
	Backend, Rendezvous string
	Path                Path     // where the command is written
	Unread              []string // arguments that were seen and not understood
}
