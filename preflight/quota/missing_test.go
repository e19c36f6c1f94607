package quota_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/test/build"
)

func TestObjectsThatPodsNameAndThatAreMissing(t *testing.T) {
	const (
		classes  = "priorityclasses.scheduling.k8s.io"
		runtimes = "runtimeclasses.node.k8s.io"
		high     = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000"
	)
	class := func(name string) build.PodOption {
		return build.Spec(func(s *corev1.PodSpec) { s.PriorityClassName = name })
	}
	runtime := build.Spec(func(s *corev1.PodSpec) { s.RuntimeClassName = new("kata") })
	with := func(change func(*corev1.PodSpec)) build.PodOption { return build.Spec(change) }
	overhead := with(func(s *corev1.PodSpec) { s.Overhead = corev1.ResourceList{"cpu": resource.MustParse("1")} })
	ranked := func(class string, priority int32) build.PodOption {
		return with(func(s *corev1.PodSpec) { s.PriorityClassName, s.Priority = class, &priority })
	}
	waits := func(class string) build.PodOption {
		return with(func(s *corev1.PodSpec) { s.PriorityClassName, s.PreemptionPolicy = class, new(corev1.PreemptNever) })
	}
	secured := func(how, level string) string {
		return "apiVersion: v1\nkind: Namespace\nmetadata: {name: ml, labels: {pod-security.kubernetes.io/" + how + ": " + level + "}}"
	}
	const account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: train, namespace: ml}"
	runsAs := func(name string) build.PodOption {
		return with(func(s *corev1.PodSpec) { s.ServiceAccountName = name })
	}
	onHost := with(func(s *corev1.PodSpec) { s.HostNetwork = true })
	cases := map[string]struct {
		objects string
		whole   []string
		pod     build.PodOption
		want    string
	}{
		"a class that is there":                 {high, []string{classes}, class("high"), ""},
		"a class that is not":                   {high, []string{classes}, class("hgh"), "never object PriorityClass hgh: it does not exist, and the API server refuses pods that name it; there is high\n"},
		"classes that were not read":            {high, nil, class("hgh"), ""},
		"a class that every cluster has":        {high, []string{classes}, class("system-node-critical"), ""},
		"an account that is not there":          {account, []string{"serviceaccounts"}, runsAs("trainer"), "never object ServiceAccount ml/trainer: it does not exist, and the API server refuses pods that run as it; there is train\n"},
		"an account that is there":              {account, []string{"serviceaccounts"}, runsAs("train"), ""},
		"the account of every namespace":        {account, []string{"serviceaccounts"}, runsAs("default"), ""},
		"accounts that were not read":           {account, nil, runsAs("trainer"), ""},
		"no class":                              {high, []string{classes}, class(""), ""},
		"a runtime class that is not there":     {high, []string{runtimes}, runtime, "never object RuntimeClass kata: it does not exist, and the API server refuses pods that name it\n"},
		"a namespace that is being deleted":     {"apiVersion: v1\nkind: Namespace\nmetadata: {name: ml}\nstatus: {phase: Terminating}", []string{"namespaces"}, class(""), "now object Namespace ml: it is being deleted, and the API server creates nothing in it\n"},
		"a namespace that is not there":         {"apiVersion: v1\nkind: Namespace\nmetadata: {name: mk}", []string{"namespaces"}, class(""), "never object Namespace ml: it does not exist, and the API server refuses what is to be created in it\n"},
		"namespaces that were not read":         {"apiVersion: v1\nkind: Namespace\nmetadata: {name: mk}", nil, class(""), ""},
		"a level that the pods keep":            {secured("enforce", "baseline"), []string{"namespaces"}, class(""), ""},
		"a level that they break":               {secured("enforce", "baseline"), []string{"namespaces"}, onHost, "never object Namespace ml: it enforces the level baseline of Pod Security, and the API server refuses the pods: host namespaces\n"},
		"a level that is warned about":          {secured("warn", "restricted"), []string{"namespaces"}, onHost, ""},
		"a level that does not exist":           {secured("enforce", "strict"), []string{"namespaces"}, onHost, ""},
		"a namespace that is there":             {"apiVersion: v1\nkind: Namespace\nmetadata: {name: ml}\nstatus: {phase: Active}", []string{"namespaces"}, class(""), ""},
		"overhead without a class":              {high, []string{runtimes}, overhead, "never amount RuntimeClass none: Worker has an overhead and no runtime class that it is of\n"},
		"a priority of its own":                 {high, []string{classes}, ranked("high", 5), "never amount PriorityClass high: Worker has the priority 5, and its class gives it 1000\n"},
		"a priority without a class":            {high, []string{classes}, ranked("", 5), "never amount PriorityClass none: Worker has the priority 5, and its class gives it 0\n"},
		"the priority of its class":             {high, []string{classes}, ranked("high", 1000), ""},
		"classes of a priority not read":        {high, nil, ranked("", 5), ""},
		"a policy that its class does not have": {high, []string{classes}, waits("high"), "never amount PriorityClass high: Worker has the preemptionPolicy Never, and its class another\n"},
		"the policy of its class":               {high + "\npreemptionPolicy: Never", []string{classes}, waits("high"), ""},
		"runtime classes not read":              {high, []string{classes}, runtime, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := build.View(t, tc.objects, tc.whole)
			if diff := cmp.Diff(tc.want, build.Violations(s, build.Within("ml", build.Gang(build.Group("Worker", 2, tc.pod))))); diff != "" {
				t.Errorf("Violations (-want +got):\n%s", diff)
			}
		})
	}
}
