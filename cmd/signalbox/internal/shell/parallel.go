package shell

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// InParallel does n things with a few workers and returns the first error in their order.
// A panic becomes an error: nothing else could recover it.
func InParallel(workers, n int, do func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				errs[i] = guarded(i, do)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func guarded(i int, do func(int) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Exit{ExitOurs, fmt.Errorf("this is a bug: %v at %s; report this line and the command at %s", p, PanickedAt(), Issues)}
		}
	}()
	return do(i)
}
