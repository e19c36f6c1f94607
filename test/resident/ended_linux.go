package resident

import (
	"os"
	"syscall"
)

// PeakAfter is the most resident memory that a process had which has ended, in MiB; 0 where nobody says.
func PeakAfter(p *os.ProcessState) float64 {
	if used, ok := p.SysUsage().(*syscall.Rusage); ok {
		return float64(used.Maxrss) / 1024
	}
	return 0
}
