package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// endedFirst are the pods that ended badly, the first one first; of those whose time nobody knows the
// order is that of names.
func (d *diagnosis) endedFirst() []*control.Pod {
	var out []*control.Pod
	for i := range d.seen.Pods {
		if d.seen.Pods[i].Exit != nil {
			out = append(out, &d.seen.Pods[i])
		}
	}
	slices.SortStableFunc(out, func(a, b *control.Pod) int {
		if a.Ended.IsZero() != b.Ended.IsZero() {
			return cmp.Compare(b.Ended.Unix(), a.Ended.Unix())
		}
		return a.Ended.Compare(b.Ended)
	})
	return out
}

// mostWays bounds how many ways to end are told.
const mostWays = 3

// howTheyEnded says how the pods ended where none of it can be a cause: being told to stop has one, and
// it was not seen.
func (d *diagnosis) howTheyEnded() string {
	byCode := map[int32][]*control.Pod{}
	for _, p := range d.endedFirst() {
		byCode[p.Exit.Code] = append(byCode[p.Exit.Code], p)
	}
	codes := slices.SortedFunc(maps.Keys(byCode), func(a, b int32) int {
		return cmp.Or(cmp.Compare(len(byCode[b]), len(byCode[a])), cmp.Compare(a, b))
	})
	var b strings.Builder
	for _, code := range codes[:min(len(codes), mostWays)] {
		first := byCode[code][0]
		b.WriteString(" " + first.Name)
		if n := len(byCode[code]) - 1; n > 0 {
			fmt.Fprintf(&b, " and %d more", n)
		}
		fmt.Fprintf(&b, " ended with %s", control.ExitPhrase(code))
		if !first.Ended.IsZero() {
			b.WriteString(", at " + first.Ended.UTC().Format("15:04:05"))
			if len(byCode[code]) > 1 {
				b.WriteString(" and later")
			}
		}
		b.WriteString(".")
	}
	return b.String()
}

// logToRead is the step that is left where nothing names a cause.
func (d *diagnosis) logToRead() string {
	ended := d.endedFirst()
	if len(ended) == 0 {
		return "Read the log of the pod that ended first: kubectl logs POD --previous."
	}
	command := "kubectl logs " + ended[0].Name
	if d.Job != nil && d.Job.Ref.Namespace != "" {
		command += " -n " + d.Job.Ref.Namespace
	}
	command += " -c " + ended[0].Exit.Container
	if ended[0].Restarts > 0 {
		command += " --previous"
	}
	return "Read the log of the pod that ended first: " + command + "."
}

func logsHold(n int) string {
	if n == 1 {
		return "the log that was read holds"
	}
	return fmt.Sprintf("the %d logs that were read hold", n)
}

func (d *diagnosis) countWell() int {
	n := 0
	for _, p := range d.seen.Pods {
		if p.Running() || p.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}
