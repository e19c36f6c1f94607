package fit_test

import (
	"syscall"
	"time"
	"unsafe"
)

// spent is the processor time of this thread: on a machine with other work to do, the
// clock on the wall measures that too. The caller keeps to one thread.
func spent() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID, clock_gettime(2)
	var ts syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return 0
	}
	return time.Duration(ts.Nano())
}
