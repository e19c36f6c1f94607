package fit_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// T9k's scheduler decides by the priorities of queues which pod goes, and the queue whether it lets go.
func TestWhoWouldHaveToGoForAQueue(t *testing.T) {
	const head = "apiVersion: scheduler.tensorstack.dev/v1beta1\nkind: Queue\nmetadata: {namespace: t9k-system, name: "
	const queues = head + "high}\nspec: {priority: 50}\n---\n" + head + "low}\nspec: {priority: 1, preemptible: true}\n---\n" + head + "kept}\nspec: {priority: 1, preemptible: false}"
	holds := func(queue string) []any {
		pod := build.Pod("x-0", build.On("a-1"), build.Asks("8"), spec(func(s *corev1.PodSpec) { s.SchedulerName = "t9k-scheduler" }))
		if queue != "" {
			pod.Labels = map[string]string{"scheduler.tensorstack.dev/queue": queue}
		}
		return []any{build.Nodes(1, "a", build.GPUs(8)), pod}
	}
	for name, tc := range map[string]struct{ objects, of, to, want string }{
		"of a queue of lower priority":      {queues, "low", "high", "pod default/x-0 (priority 1) would have to go for the queue high (priority 50), where T9k's scheduler preempts"},
		"of one that is not preemptible":    {queues, "kept", "high", ""},
		"of the same queue":                 {queues, "high", "high", ""},
		"of a queue of higher priority":     {queues, "high", "low", ""},
		"of no queue":                       {queues, "", "high", ""},
		"two queues have the name":          {queues + "\n---\napiVersion: scheduler.tensorstack.dev/v1beta1\nkind: Queue\nmetadata: {namespace: b, name: high}\nspec: {priority: 9}", "low", "high", ""},
		"of a queue that says nothing else": {head + "high}\nspec: {priority: 50}\n---\n" + head + "low}\nspec: {}", "low", "high", "pod default/x-0 (priority 0) would have to go for the queue high (priority 50), where T9k's scheduler preempts"},
	} {
		t.Run(name, func(t *testing.T) {
			g := in("ml", gangOf(group("worker", 1, build.Asks("8"), spec(func(s *corev1.PodSpec) { s.SchedulerName = "t9k-scheduler" }))))
			g.System, g.Queue = gang.T9k, tc.to
			said := ""
			if r := whatif.Answer(t.Context(), ruled(t, tc.objects, nil, holds(tc.of)...), g); r.Preempts != nil {
				said = r.Preempts.String()
			}
			if said != tc.want {
				t.Errorf("it says %q, want %q", said, tc.want)
			}
		})
	}
}
