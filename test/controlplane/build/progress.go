package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// announce prints what has begun; the function it returns prints how long it took. On a terminal the line
// counts the seconds meanwhile: a compiler is silent for minutes, and silence looks like a hang.
func announce(w io.Writer, what string) (done func(error)) {
	begun := time.Now()
	say(w, "%s …", what)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		if !terminal(w) {
			return
		}
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				say(w, "\r%s … %s", what, brief(time.Since(begun)))
			case <-stop:
				say(w, "\r%s …", what)
				return
			}
		}
	}()
	return func(err error) {
		close(stop)
		<-stopped
		if err != nil {
			say(w, " not built\n")
			return
		}
		say(w, " %s\n", brief(time.Since(begun)))
	}
}

// say drops the error: a progress line that cannot be printed is no reason to stop building.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	stat, err := f.Stat()
	return err == nil && stat.Mode()&os.ModeCharDevice != 0
}

// brief is 2m45s or 7.3s.
func brief(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
