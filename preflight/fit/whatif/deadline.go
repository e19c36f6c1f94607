package whatif

import (
	"time"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// atLatest is ", at the latest in 2.2 h …", where the time of every job that has to end is bounded; a job that
// may run for ever bounds nothing.
func atLatest(jobs []*runningJob, left func(namespace, name string) (rest time.Duration, ok bool)) string {
	if left == nil {
		return ""
	}
	var longest time.Duration
	for _, j := range jobs {
		rest, ok := left(j.namespace, j.name)
		if !ok {
			return ""
		}
		longest = max(longest, rest)
	}
	if longest <= 0 {
		return ", whose activeDeadlineSeconds is over"
	}
	return ", at the latest in " + words.Short(longest) + ", when activeDeadlineSeconds is over"
}
