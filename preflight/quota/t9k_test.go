package quota_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestQueuesOfT9k(t *testing.T) {
	t9k := func(spec, status string) string {
		return "apiVersion: scheduler.tensorstack.dev/v1beta1\nkind: Queue\nmetadata: {name: q, namespace: t9k-system}\nspec: {" + spec + "}\nstatus: {" + status + "}"
	}
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    string
	}{
		"above":             {t9k("quota: {requests: {nvidia.com/gpu: 8}}", ""), build.Queued(gang.T9k, "q", build.Workers(2, "8")), "never queue-quota Queue t9k-system/q: 2 Workers ask for 16 nvidia.com/gpu; the queue may hold 8\n"},
		"in use":            {t9k("quota: {requests: {nvidia.com/gpu: 16}}", "allocated: {nvidia.com/gpu: 4}"), build.Queued(gang.T9k, "q", build.Workers(2, "8")), "now queue-quota Queue t9k-system/q: 2 Workers ask for 16 nvidia.com/gpu beside 4 in use; the queue may hold 16\n"},
		"closed":            {t9k("closed: true", ""), build.Queued(gang.T9k, "q", build.Workers(1, "8")), "now queue-closed Queue t9k-system/q: it is closed; it takes no jobs until it is opened\n"},
		"missing":           {t9k("", ""), build.Queued(gang.T9k, "other", build.Workers(1, "8")), "never queue-missing Queue other: it does not exist; there is q\n"},
		"not readable":      {t9k("quota: {requests: {cpu: much}}", ""), build.Queued(gang.T9k, "q", build.Workers(1, "8")), ""},
		"KAI is not judged": {t9k("", ""), build.Queued(gang.KAI, "other", build.Workers(1, "8")), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := build.View(t, tc.objects, []string{"queues.scheduling.volcano.sh", "queues.scheduler.tensorstack.dev"})
			if diff := cmp.Diff(tc.want, build.Violations(s, tc.gang)); diff != "" {
				t.Errorf("Limits (-want +got):\n%s", diff)
			}
		})
	}
}

// The shape of a queue bounds one pod, all its containers together; what cannot be looked at is said.
func TestShapesOfT9k(t *testing.T) {
	const shapes = "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: resource-shapes, namespace: t9k-system}\ndata:\n  config.yaml: |\n    "
	const small = "profiles: [{name: small, rules: [{apiGroups: ['*'], resources: [RESOURCE], resourceShape: {requests: {cpu: 10}, limits: {nvidia.com/gpu: 4}}}]}]"
	of := func(resource string) string { return shapes + strings.Replace(small, "RESOURCE", resource, 1) }
	pod := func(cpu string, containers int, gpus string) gang.Gang {
		g := build.Queued(gang.T9k, "q", build.Workers(2, gpus))
		g.Self = schema.GroupResource{Group: "batch.tensorstack.dev", Resource: "colossalaijobs"}
		spec := &g.Groups[0].Pod.Spec
		first := spec.Containers[0]
		first.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse(cpu)}
		first.Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(gpus)}
		spec.Containers = slices.Repeat([]corev1.Container{first}, containers)
		return g
	}
	cases := map[string]struct {
		shapes  string
		profile string
		gang    gang.Gang
		want    string
		note    string
	}{
		"as much as it takes":         {of("pods"), "small", pod("5", 2, "2"), "", ""},
		"above in sum":                {of("pods"), "small", pod("6", 2, "1"), "never queue-shape Queue t9k-system/q: one pod of Worker requests 12 cpu; the most that the resource shape small takes is 10\n", ""},
		"a limit above":               {of("'*'"), "small", pod("1", 1, "5"), "never queue-shape Queue t9k-system/q: one pod of Worker has a limit of 5 nvidia.com/gpu; the most that the resource shape small takes is 4\n", ""},
		"a shape of the job":          {of("colossalaijobs"), "small", pod("11", 1, "1"), "never queue-shape Queue t9k-system/q: one pod of Worker requests 11 cpu; the most that the resource shape small takes is 10\n", ""},
		"a shape of the job, in sum":  {of("colossalaijobs"), "small", pod("5", 1, "3"), "", "all pods together have limits of 6 nvidia.com/gpu; the resource shape small takes 4, and whether T9k adds the pods of a job up is not known"},
		"a shape of the job, as much": {of("colossalaijobs"), "small", pod("5", 1, "2"), "", ""},
		"a shape of others":           {of("notebooks"), "small", pod("11", 1, "8"), "", ""},
		"no such profile":             {of("pods"), "large", pod("11", 1, "8"), "", ""},
		"no ConfigMap":                {"", "small", pod("11", 1, "8"), "", "how large the pods of Queue q may be stands in the resource shape profile small, which is not judged: ConfigMap t9k-system/resource-shapes was not read"},
		"not YAML":                    {shapes + "[", "small", pod("11", 1, "8"), "", "how large the pods of Queue q may be stands in the resource shape profile small, which is not judged: read ConfigMap t9k-system/resource-shapes: config.yaml is not YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content"},
		"an amount that is none":      {shapes + "profiles: [{name: small, rules: [{resourceShape: {requests: {cpu: much}}}]}]", "small", pod("11", 1, "8"), "", "how large the pods of Queue q may be stands in the resource shape profile small, which is not judged: read ConfigMap t9k-system/resource-shapes: profiles[0].rules[0].resourceShape.requests.cpu is \"much\"; expected a quantity such as 8, 500m or 64Gi"},
		"a container without a cpu":   {of("pods"), "small", build.Queued(gang.T9k, "q", build.Workers(1, "1")), "never queue-shape Queue t9k-system/q: container main of Worker does not say requests.cpu, which the resource shape small needs of every container\n", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := build.View(t, "apiVersion: scheduler.tensorstack.dev/v1beta1\nkind: Queue\nmetadata: {name: q, namespace: t9k-system}\nspec: {resourceShapeProfile: "+tc.profile+"}"+tc.shapes, []string{"queues.scheduler.tensorstack.dev"})
			if diff := cmp.Diff(tc.want, build.Violations(s, tc.gang)); diff != "" {
				t.Errorf("Violations (-want +got):\n%s", diff)
			}
			_, notes := quota.Check(s, quota.Stored(s, tc.gang))
			if diff := cmp.Diff(tc.note, strings.Join(notes.Told, "\n")); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// A quota that counts cpu needs to be told of every container how much it takes.
func TestAnAmountThatAQueueOfT9kNeeds(t *testing.T) {
	s := build.View(t, "apiVersion: scheduler.tensorstack.dev/v1beta1\nkind: Queue\nmetadata: {name: q, namespace: t9k-system}\nspec: {quota: {requests: {cpu: 40, nvidia.com/gpu: 8}}, maxDuration: 2h}", []string{"queues.scheduler.tensorstack.dev"})
	g := build.Queued(gang.T9k, "q", build.Workers(1, "1"))
	if diff := cmp.Diff("never amount Queue t9k-system/q: container main of Worker does not say requests.cpu, which the quota needs of every container\n", build.Violations(s, g)); diff != "" {
		t.Errorf("Violations (-want +got):\n%s", diff)
	}
	if _, notes := quota.Check(s, g); !slices.Contains(notes.Told, "Queue q lets no pod become older than 2h (maxDuration)") {
		t.Errorf("notes are %q", notes)
	}
}

// Where queues were not looked at, a gang of one is left as it is.
func TestAQueueThatNobodyReadHasNoNodes(t *testing.T) {
	g := gang.Gang{System: gang.T9k, Queue: "research", Groups: []gang.Group{{Name: "worker", Count: 1}}}
	for name, s := range map[string]*cluster.Snapshot{"no snapshot": nil, "no rules": {}} {
		if diff := cmp.Diff(g.Groups, quota.OnNodesOfQueue(s, g).Groups, cmpopts.IgnoreUnexported(job.Origins{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
