//go:build unix && !linux

package cluster

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps a Ctrl-C at the terminal away from the parts: their owner decides when they end. Only Linux
// can also tie them to their owner's life.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
