package controller

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
)

// What makes a job slow is no fault of it: it runs, and ends well. It is said in an Event and in the analysis.

const (
	// throttledAbove is the percent of periods from which on a limit of the CPU costs time: the threshold of
	// CPUThrottlingHigh (https://github.com/kubernetes-monitoring/kubernetes-mixin, config.libsonnet).
	throttledAbove = 25
	// busyAbove is the percent from which on the GPUs are what the job waits for, and nothing else is.
	busyAbove = 90
	// busyBeside is the percent that the others reach at least when one pod's GPUs idle among them.
	busyBeside = 10
	// mostNamed is how many pods one sentence names.
	mostNamed = 4
)

// bottleneck is one thing that a job waits for.
type bottleneck struct {
	key  string // what it is of; the numbers change from look to look
	text string
}

// use asks what the pods of a job used that has run long enough: whether its GPUs do nothing, what holds it
// up, and the numbers in one sentence.
func (r *Reconciler) use(ctx context.Context, u *unstructured.Unstructured, v view) (idle []evidence.Observation, slow []bottleneck, numbers string) {
	if r.Running.Use == nil || r.Running.IdleFor <= 0 {
		return nil, nil, ""
	}
	a := UsageOf{Namespace: u.GetNamespace(), Over: r.Running.IdleFor}
	for i := range v.pods {
		p := &v.pods[i]
		if p.Status.StartTime == nil || v.now.Sub(p.Status.StartTime.Time) < r.Running.IdleFor {
			return nil, nil, "" // not all of them have run that long
		}
		a.Pods = append(a.Pods, p.Name)
		if p.Spec.NodeName != "" && !slices.Contains(a.Nodes, p.Spec.NodeName) {
			a.Nodes = append(a.Nodes, p.Spec.NodeName)
		}
	}
	slices.Sort(a.Pods)
	slices.Sort(a.Nodes)
	used, err := r.Running.Use(ctx, a)
	if err != nil {
		log.FromContext(ctx).Info("what the job uses is not all known", "error", err.Error())
	}
	if idle = r.idle(u.GetName(), a, used, v.now); len(idle) > 0 {
		return idle, nil, ""
	}
	return nil, used.bottlenecks(a, r.Running), used.sentence(a)
}

// idle says that no GPU of the job did anything. Pods of which nothing is known may be the busy ones.
func (r *Reconciler) idle(job string, a UsageOf, used Usage, now time.Time) []evidence.Observation {
	_, most, known := span(used.GPU, a.Pods)
	if known < len(a.Pods) || known == 0 || used.GPU[most] >= r.Running.IdleBelow {
		return nil
	}
	percent := fmt.Sprintf("%.3g", used.GPU[most])
	text := fmt.Sprintf("the GPUs of all %d pods were at most %s %% busy on average over the last %s", known, percent, a.Over)
	return []evidence.Observation{progress.Idle(job, text, now.Add(-a.Over), map[string]string{
		"pods": fmt.Sprint(known), "percent": percent, "over": a.Over.String(),
	})}
}

// span is which pod has the lowest and which the highest value, and of how many it is known.
func span(of map[string]float64, names []string) (least, most string, known int) {
	for _, n := range names {
		value, ok := of[n]
		if !ok {
			continue
		}
		if known++; known == 1 || value < of[least] {
			least = n
		}
		if known == 1 || value > of[most] {
			most = n
		}
	}
	return least, most, known
}

// mean is the average of those that are known; none is NaN, and below and above nothing.
func mean(of map[string]float64, names []string) float64 {
	sum, known := 0.0, 0
	for _, n := range names {
		if value, ok := of[n]; ok {
			sum += value
			known++
		}
	}
	return sum / float64(known)
}

// bottlenecks are what a job waits for. Where its GPUs are busy they are what it waits for; a pod whose
// memory is nearly full and one that idles beside others are said all the same.
func (u Usage) bottlenecks(a UsageOf, by Running) []bottleneck {
	var out []bottleneck
	add := func(key, format string, args ...any) {
		out = append(out, bottleneck{key, fmt.Sprintf(format, args...)})
	}
	if idle, others := u.idleAmongOthers(a.Pods, by.IdleBelow, by.IdleBeside); len(idle) > 0 {
		add("idle "+strings.Join(idle, " "), "The GPUs of %s were at most %.3g %% busy over the last %s, those of the %s %.3g %%; the mean of all, %.3g %%, does not show it.",
			named(idle), u.GPU[idle[0]], a.Over, words.Count(len(others), "other pod", "other pods"), mean(u.GPU, others), mean(u.GPU, a.Pods))
	}
	if _, most, known := span(u.OfLimit, a.Pods); known > 0 && u.OfLimit[most] >= by.FullAbove {
		add("memory", "The memory of %s reached %.3g %% of its limit%s: beyond it the kernel ends the container.", most, u.OfLimit[most], amount(u.Memory, most, " (%s)"))
	}
	_, busiest, known := span(u.GPU, a.Pods)
	if known > 0 && u.GPU[busiest] >= busyAbove {
		return out
	}
	beside := ""
	if known > 0 {
		beside = fmt.Sprintf("; its GPUs were %.3g %% busy at most", u.GPU[busiest])
	}
	if _, most, known := span(u.Throttled, a.Pods); known > 0 && u.Throttled[most] >= throttledAbove {
		cores := ""
		if used, ok := u.CPU[most]; ok {
			cores = fmt.Sprintf(" (%.3g cores in use)", used)
		}
		add("cpu", "Its CPU limit held %s back in %.3g %% of the periods%s%s.", most, u.Throttled[most], cores, beside)
	}
	if _, most, known := span(u.NodeDisk, a.Nodes); known > 0 && u.NodeDisk[most] >= by.FullAbove {
		add("disk", "A disk of node %s had work %.3g %% of the time, with that of other pods%s.", most, u.NodeDisk[most], beside)
	}
	if _, most, known := span(u.NodeNetwork, a.Nodes); known > 0 && u.NodeNetwork[most] >= by.FullAbove {
		add("network", "The network of node %s carried %.3g %% of its speed, with that of other pods%s.", most, u.NodeNetwork[most], beside)
	}
	return out
}

// idleAmongOthers are the pods whose GPUs do nothing, or at most idleBeside percent of what those of every other do.
// A rank that waits for the others waits in a kernel of NCCL, which counts as busy: one that takes part, however slowly,
// shows about as much as the rest, and one that shows far less takes no part.
func (u Usage) idleAmongOthers(pods []string, idleBelow, idleBeside float64) (idle, others []string) {
	_, top, _ := span(u.GPU, pods)
	busy := max(busyBeside, u.GPU[top]*idleBeside/100)
	for _, n := range pods {
		switch value, known := u.GPU[n]; {
		case !known:
			return nil, nil // it may be a pod without GPUs
		case value > busy:
			others = append(others, n)
		default:
			idle = append(idle, n)
		}
	}
	if len(others) == 0 || len(idle) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(idle, func(a, b string) int { return -cmp.Compare(u.GPU[a], u.GPU[b]) })
	least, _, _ := span(u.GPU, others)
	if most := u.GPU[idle[0]]; most >= idleBelow && 100*most > idleBeside*u.GPU[least] {
		return nil, nil // between idle and busy
	}
	return idle, others
}

// sentence are the numbers of a job: of each resource the lowest and the highest pod.
func (u Usage) sentence(a UsageOf) string {
	var parts []string
	add := func(what string, of map[string]float64, write func(float64) string) {
		least, most, known := span(of, a.Pods)
		switch {
		case known == 0:
			return
		case known == 1 || write(of[least]) == write(of[most]):
			parts = append(parts, what+" "+write(of[most]))
		default:
			parts = append(parts, fmt.Sprintf("%s %s (%s) to %s (%s)", what, write(of[least]), least, write(of[most]), most))
		}
	}
	percent := func(v float64) string { return fmt.Sprintf("%.3g %%", v) }
	rate := func(v float64) string { return "about " + bytesOf(v) + "/s" }
	add("GPU", u.GPU, percent)
	add("CPU", u.CPU, func(v float64) string { return fmt.Sprintf("%.3g cores", v) })
	add("memory", u.Memory, bytesOf)
	add("of its limit", u.OfLimit, percent)
	add("network", u.Network, rate)
	add("disk", u.Disk, rate)
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("In use by a pod, on average over %s: %s.", a.Over, strings.Join(parts, ", "))
}

// amount writes a number of bytes into a format where it is known.
func amount(of map[string]float64, name, format string) string {
	if value, ok := of[name]; ok {
		return fmt.Sprintf(format, bytesOf(value))
	}
	return ""
}

// bytesOf writes a number of bytes in the unit in which it reads best.
func bytesOf(v float64) string {
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if v < 1024 {
			return fmt.Sprintf("%.3g %s", v, unit)
		}
		v /= 1024
	}
	return fmt.Sprintf("%.3g TiB", v)
}

// named are the first names of a list, and how many there are beyond.
func named(names []string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
}

// keysOf change when what holds a job up does, and not with its numbers.
func keysOf(slow []bottleneck) string {
	keys := map[string]bool{}
	for _, s := range slow {
		keys[s.key] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(keys)), ", ")
}

// sayWhatHoldsUp writes one Event for each set of bottlenecks.
func (r *Reconciler) sayWhatHoldsUp(ctx context.Context, u *unstructured.Unstructured, w *watched) {
	keys := keysOf(w.slow)
	if keys == w.said {
		return
	}
	w.said = keys
	var texts []string
	for _, s := range w.slow {
		texts = append(texts, s.text)
	}
	if len(texts) == 0 {
		return
	}
	if err := r.Writer.event(ctx, u, corev1.EventTypeWarning, BottleneckSeen, r.Writer.led(strings.Join(texts, " "), "", BottleneckSeen)); err != nil {
		log.FromContext(ctx).Error(err, "no event")
	}
}

// usage changes when a diagnosis has other things to say of what the job uses.
func (w *watched) usage() string {
	if w.numbers == "" && len(w.slow) == 0 {
		return ""
	}
	return "numbers; " + keysOf(w.slow)
}

// remarks are what a diagnosis of the job says of its use.
func (w *watched) remarks() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, s := range w.slow {
		out = append(out, s.text)
	}
	if w.numbers != "" {
		out = append(out, w.numbers)
	}
	return out
}

// tell notes that what the job uses is part of its diagnosis.
func (w *watched) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = w.usage()
}
