package cluster

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps a Ctrl-C at the terminal away from the parts (their owner decides when they end) and has
// the kernel kill them when the owner dies without a word.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
