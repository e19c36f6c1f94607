package kinds

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

func objectOf(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	m := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: normal(m).(map[string]any)}
}

// podOf reads a Job around one pod spec.
func readPod(t *testing.T, spec string) (*job.Job, error) {
	t.Helper()
	return batchJob.Read(objectOf(t, "{metadata: {name: x}, spec: {template: {spec: "+spec+"}}}"), nil)
}

func TestProblems(t *testing.T) {
	const spec = "spec.template.spec."
	cases := map[string]struct{ pod, want string }{
		"text for an integer":            {`{containers: [{name: a, ports: [{containerPort: "80"}]}]}`, spec + `containers[0].ports[0].containerPort is the text "80"; expected an integer`},
		"fraction for an integer":        {`{priority: 1.5, containers: [{name: a}]}`, spec + `priority is the number 1.5; expected an integer`},
		"integer out of range":           {`{priority: 4294967296, containers: [{name: a}]}`, spec + `priority is the number 4294967296; expected an integer from -2147483648 to 2147483647`},
		"text for a boolean":             {`{hostNetwork: "true", containers: [{name: a}]}`, spec + `hostNetwork is the text "true"; expected true or false`},
		"boolean for a text":             {`{nodeSelector: {gpu: true}, containers: [{name: a}]}`, spec + `nodeSelector.gpu is true, a boolean; expected a text (in quotes)`},
		"list for an object":             {`{affinity: [], containers: [{name: a}]}`, spec + `affinity is a list of 0; expected an object`},
		"object for a list":              {`{containers: [{name: a, env: {A: b}}]}`, spec + `containers[0].env is an object with 1 field; expected a list`},
		"shell placeholder":              {`{priority: "$PRIO", containers: [{name: a}]}`, spec + `priority is "$PRIO", a placeholder that was not substituted; expected an integer`},
		"braces placeholder":             {`{priority: "${PRIO}", containers: [{name: a}]}`, spec + `priority is "${PRIO}", a placeholder that was not substituted; expected an integer`},
		"PAI placeholder":                {`{priority: "<% $parameters.p %>", containers: [{name: a}]}`, spec + `priority is "<% $parameters.p %>", a placeholder that was not substituted; expected an integer`},
		"Helm placeholder":               {`{hostNetwork: "{{ .Values.hostNet }}", containers: [{name: a}]}`, spec + `hostNetwork is "{{ .Values.hostNet }}", a placeholder that was not substituted; expected true or false`},
		"Tekton placeholder":             {`{priority: "$(params.prio)", containers: [{name: a}]}`, spec + `priority is "$(params.prio)", a placeholder that was not substituted; expected an integer`},
		"underscore placeholder":         {`{priority: __PRIO__, containers: [{name: a}]}`, spec + `priority is "__PRIO__", a placeholder that was not substituted; expected an integer`},
		"angle placeholder":              {`{priority: "<<PRIO>>", containers: [{name: a}]}`, spec + `priority is "<<PRIO>>", a placeholder that was not substituted; expected an integer`},
		"the same placeholder twice":     {`{priority: $X, activeDeadlineSeconds: "${X}", containers: [{name: a}]}`, spec + `activeDeadlineSeconds is "${X}", a placeholder that was not substituted; expected an integer`},
		"amount with a unit that is not": {`{containers: [{name: a, resources: {limits: {memory: 16GB}}}]}`, spec + `containers[0].resources.limits.memory is the text "16GB"; expected an amount such as 8, 500m, 1.5 or 16Gi`},
		"amount without end":             {`{containers: [{name: a, resources: {limits: {cpu: "1e-2147483648"}}}]}`, spec + `containers[0].resources.limits.cpu is the text "1e-2147483648"; expected an amount such as 8, 500m, 1.5 or 16Gi`},
		"amount below nothing":           {`{containers: [{name: a, resources: {limits: {nvidia.com/gpu: -3}}}]}`, spec + `containers[0].resources.limits["nvidia.com/gpu"] is the number -3; expected an amount of 0 or more`},
		"amount just below nothing":      {`{containers: [{name: a, resources: {requests: {cpu: "-1m"}}}]}`, spec + `containers[0].resources.requests.cpu is the text "-1m"; expected an amount of 0 or more`},
		"boolean for an amount":          {`{containers: [{name: a, resources: {limits: {cpu: true}}}]}`, spec + `containers[0].resources.limits.cpu is true, a boolean; expected an amount such as 8, 500m, 1.5 or 16Gi`},
		"no containers":                  {`{restartPolicy: Never}`, spec + `containers is missing; expected at least one container`},
		"empty containers":               {`{containers: []}`, spec + `containers is a list of 0; expected at least one container`},
		"null container":                 {`{containers: [null]}`, spec + `containers[0] is null; expected an element of the list`},
		"key that needs quotes":          {`{containers: [{name: a, resources: {requests: {nvidia.com/gpu: x}}}]}`, spec + `containers[0].resources.requests["nvidia.com/gpu"] is the text "x"; expected an amount such as 8, 500m, 1.5 or 16Gi`},
		"template that is text":          {`hello`, `spec.template.spec is the text "hello"; expected an object`},
		"list for a port":                {`{containers: [{name: a, livenessProbe: {tcpSocket: {port: [1]}}}]}`, spec + `containers[0].livenessProbe.tcpSocket.port is a list of 1; expected an integer or a text`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j, err := readPod(t, tc.pod)
			if j == nil {
				t.Fatalf("Read: no job beside %v", err)
			}
			if diff := cmp.Diff("read Job: "+tc.want, fmt.Sprint(err)); diff != "" {
				t.Errorf("Read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnread(t *testing.T) {
	cases := map[string]struct{ pod, want string }{
		"letters missing":     {`{containers: [{name: a, imagePulPolicy: Always}]}`, `containers[0].imagePulPolicy: not a field here; the nearest is imagePullPolicy`},
		"letters swapped":     {`{containers: [{name: a, commnad: [x]}]}`, `containers[0].commnad: not a field here; the nearest is command`},
		"only its beginning":  {`{priorityClass: high, containers: [{name: a}]}`, `priorityClass: not a field here; the nearest is priorityClassName`},
		"another case":        {`{hostnetwork: true, containers: [{name: a}]}`, `hostnetwork: not a field here; the nearest is hostNetwork`},
		"one level too high":  {`{image: x, containers: [{name: a}]}`, `image: not a field here; there is containers[].image`},
		"nothing like it":     {`{gpus: 8, containers: [{name: a}]}`, `gpus: not a field here`},
		"amount without one":  {`{containers: [{name: a, resources: {limits: {nvidia.com/gpu: null}}}]}`, `containers[0].resources.limits["nvidia.com/gpu"]: named without an amount: null is read as absent`},
		"nulls say nothing":   {`{tolerations: null, nodeSelector: {a: null}, containers: [{name: a, env: null, resources: null}]}`, ``},
		"whole floats are ok": {`{priority: 2.0, containers: [{name: a, resources: {limits: {cpu: 0.5, memory: 1e9}}}]}`, ``},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j, err := readPod(t, tc.pod)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, u := range j.Unread {
				got = append(got, strings.TrimPrefix(string(u.Path), "spec.template.spec.")+": "+u.String())
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("Unread (-want +got):\n%s", diff)
			}
		})
	}
}

// Kinds of one name are told apart in messages as in lists.
func TestAJobIsNamedAsItsKindIs(t *testing.T) {
	for _, k := range All() {
		for _, gvk := range k.GVKs {
			ref := job.Ref{Kind: gvk.Kind, APIVersion: gvk.GroupVersion().String(), Namespace: "ml", Name: "train"}
			if got, want := ref.String(), k.Name+" ml/train"; got != want {
				t.Errorf("a %s is called %q, want %q", gvk, got, want)
			}
		}
	}
}

func TestOneReadTellsEverything(t *testing.T) {
	j, err := readPod(t, `{priority: x, hostNetwork: 1, containers: [{name: a, env: [{name: M, value: 3}]}, {name: 5}]}`)
	var readErr *ReadError
	if !errors.As(err, &readErr) || len(readErr.Problems) != 4 {
		t.Errorf("read: %v, want 4 problems", err)
	}
	// What could be read is there, and an unquoted number keeps what it says.
	c := j.Roles[0].Pod.Spec.Containers
	if c[0].Name != "a" || c[0].Env[0].Value != "3" || c[1].Name != "5" {
		t.Errorf("containers are %+v", c)
	}
}

func TestObjectsBeyondMeasure(t *testing.T) {
	var deep any = "bottom"
	for range 200 {
		deep = []any{deep}
	}
	long := make([]any, largest+1)
	for i := range long {
		long[i] = int64(i)
	}
	many := map[string]any{}
	for i := range 3 * mostRemarks {
		many[fmt.Sprintf("field%d", i)] = int64(1)
	}
	env := make([]any, 3*mostRemarks)
	for i := range env {
		env[i] = int64(i)
	}
	strange := map[string]any{}
	for i := range largest + 10 {
		strange[fmt.Sprint(i)] = ""
	}
	spec := func(pod map[string]any) map[string]any {
		return map[string]any{"template": map[string]any{"spec": pod}}
	}
	one := []any{map[string]any{"name": "a"}}
	cases := map[string]struct {
		object map[string]any
		want   string
	}{
		"a deep field": {map[string]any{"spec": spec(map[string]any{"containers": one, "affinity": deep})}, "read Job: spec.template.spec.affinity" + strings.Repeat("[0]", 97) + " is nested more than 100 levels deep; expected at most 100 levels and 50000 values; spec.template.spec.affinity is a list of 1; expected an object"},
		"a long list":  {map[string]any{"spec": spec(map[string]any{"containers": one, "tolerations": long})}, "read Job: spec.template.spec.tolerations is a list of 50001, of which the first 1000 are read; expected at most 100 levels and 50000 values; "},
		"many notes":   {map[string]any{"spec": spec(map[string]any{"containers": one}), "metadata": map[string]any{"annotations": strange}}, "<nil>"},
		"nothing":      {nil, "read Job: the object is nothing; expected an object"},
		"too deep":     {map[string]any{"spec": deep}, "read Job: spec" + strings.Repeat("[0]", 100) + " is nested more than 100 levels deep; expected at most 100 levels and 50000 values; spec is a list of 1; expected an object"},
		"too much":     {map[string]any{"spec": long}, "read Job: spec is a list of 50001, of which the first 1000 are read; expected at most 100 levels and 50000 values; spec is a list of 1000; expected an object"},
		"long status":  {map[string]any{"spec": spec(map[string]any{"containers": one}), "status": long}, "<nil>"},
		"who wrote it": {map[string]any{"spec": spec(map[string]any{"containers": one}), "metadata": map[string]any{"managedFields": long}}, "<nil>"},
		"many unknown": {map[string]any{"spec": spec(map[string]any{"containers": one, "affinity": many})}, "<nil>"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j, err := batchJob.Read(&unstructured.Unstructured{Object: tc.object}, nil)
			if !strings.HasPrefix(fmt.Sprint(err), tc.want) {
				t.Errorf("Read: %.500v\nwant: %s", err, tc.want)
			}
			if j != nil && len(j.Unread) > mostRemarks {
				t.Errorf("%d remarks, want at most %d", len(j.Unread), mostRemarks)
			}
		})
	}
	_, err := batchJob.Read(&unstructured.Unstructured{Object: map[string]any{"spec": spec(map[string]any{"containers": env})}}, nil)
	if want := "(and 200 more problems)"; !strings.HasSuffix(fmt.Sprint(err), want) {
		t.Errorf("%d bad containers: error does not end with %q", len(env), want)
	}
}

func TestRequestsAreWhatTheSchedulerCounts(t *testing.T) {
	cases := map[string]struct {
		pod  string
		want job.Resources
	}{
		"limits stand for requests":    {`{containers: [{name: a, resources: {limits: {cpu: 2, nvidia.com/gpu: 8}, requests: {cpu: 500m}}}]}`, job.Resources{"cpu": 500, "nvidia.com/gpu": 8}},
		"init container is larger":     {`{initContainers: [{name: i, resources: {limits: {memory: 4Gi}}}], containers: [{name: a, resources: {limits: {memory: 1Gi}}}]}`, job.Resources{"memory": 4 << 30}},
		"sidecar is added":             {`{initContainers: [{name: i, restartPolicy: Always, resources: {limits: {cpu: 1}}}], containers: [{name: a, resources: {limits: {cpu: 2}}}]}`, job.Resources{"cpu": 3000}},
		"overhead is added":            {`{overhead: {cpu: 250m}, containers: [{name: a, resources: {limits: {cpu: 2}}}]}`, job.Resources{"cpu": 2250}},
		"pod-level requests win":       {`{resources: {requests: {cpu: 6}}, containers: [{name: a, resources: {requests: {cpu: 2}}}]}`, job.Resources{"cpu": 6000}},
		"pod-level limits come last":   {`{resources: {limits: {cpu: 6, memory: 1Gi}}, containers: [{name: a, resources: {requests: {cpu: 2}}}]}`, job.Resources{"cpu": 2000, "memory": 1 << 30}},
		"explicit zero stays":          {`{containers: [{name: a, resources: {limits: {nvidia.com/gpu: 0}}}]}`, job.Resources{"nvidia.com/gpu": 0}},
		"amounts that are too large":   {`{containers: [{name: a, resources: {limits: {memory: 9000000000000Ti, cpu: 10Pi}}}, {name: b, resources: {limits: {memory: 9000000000000Ti}}}]}`, job.Resources{"memory": 1<<63 - 1, "cpu": 1<<63 - 1}},
		"cpu in the unit of something": {`{containers: [{name: a, resources: {limits: {cpu: 10Mi}}}]}`, job.Resources{"cpu": 10 << 20 * 1000}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j, err := readPod(t, tc.pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, j.Roles[0].Pod.Requests); diff != "" {
				t.Errorf("Requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSpecKeepsWhatTheUserWrote(t *testing.T) {
	j, err := readPod(t, `{containers: [{name: a, resources: {limits: {cpu: 2}}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := j.Roles[0].Pod.Spec.Containers[0].Resources; len(got.Requests) != 0 || len(got.Limits) != 1 {
		t.Errorf("resources are %+v; requests were not written", got)
	}
}

func TestAllIsSortedAndWhole(t *testing.T) {
	var names []string
	for _, k := range All() {
		names = append(names, k.Name)
		if k.Resource == "" || len(k.GVKs) == 0 || k.Doc == "" || k.Runs.English == "" || k.Runs.Chinese == "" || k.Read == nil || k.Pods == nil || k.Place == nil || k.State == nil {
			t.Errorf("%s: a field of the literal is missing", k.Name)
		}
		for _, gvk := range k.GVKs {
			if For(gvk) != k {
				t.Errorf("%s: For(%v) is another kind", k.Name, gvk)
			}
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names are not sorted or not unique: %v", names)
	}
	if declared := declaredKinds(t); declared != len(names) {
		t.Errorf("%d kinds are declared, %d are in All: go generate ./preflight/kinds", declared, len(names))
	}
	All()[0] = nil
	if All()[0] == nil {
		t.Error("a caller could change All")
	}
}

func TestKeyOnGroupAndVersion(t *testing.T) {
	for _, api := range []string{
		"mpioperator.xinli.com.cn/v1alpha1 MPIJob", "kubeflow.org/v1alpha2 MPIJob", "batch.volcano.sh/v1 Job",
		"kubeflow.org/v1 pytorchjob", "trainer.kubeflow.org/v2alpha1 TrainJob", "batch.tensorstack.dev/v1 MPIJob", "ray.io/v1 RayService", "/v1 Pod",
	} {
		version, kind, _ := strings.Cut(api, " ")
		u := &unstructured.Unstructured{}
		u.SetAPIVersion(version)
		u.SetKind(kind)
		if k := For(u.GroupVersionKind()); k != nil {
			t.Errorf("For(%s) is %s; nobody reads it", api, k.Name)
		}
	}
}

// Two groups have a MPIJob, and two a Job: each is read by its own reader, and objects say the kind of the API.
func TestKindsOfOneName(t *testing.T) {
	for api, want := range map[string]*Kind{
		"batch/v1 Job": batchJob, "batch.volcano.sh/v1alpha1 Job": volcanoJob,
		"kubeflow.org/v1 MPIJob": mpiJob, "kubeflow.org/v2beta1 MPIJob": mpiJob, "batch.tensorstack.dev/v1beta1 MPIJob": t9kMPIJob,
		"ray.io/v1 RayJob": rayJob, "ray.io/v1alpha1 RayJob": rayJob, "ray.io/v1alpha1 RayCluster": rayCluster,
	} {
		version, kind, _ := strings.Cut(api, " ")
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
		u.SetAPIVersion(version)
		u.SetKind(kind)
		k := For(u.GroupVersionKind())
		if k != want {
			t.Fatalf("For(%s) is %v; want %s", api, k, want.Name)
		}
		if j, _ := k.Read(u, nil); k.API() != kind || j == nil || j.Ref.Kind != kind || j.Ref.APIVersion != version {
			t.Errorf("%s is read as %+v of %s", api, j, k.API())
		}
	}
}

func labelled(name string, pairs ...string) *corev1.Pod {
	p := &corev1.Pod{}
	p.Name, p.Labels = name, map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		p.Labels[pairs[i]] = pairs[i+1]
	}
	return p
}

func annotated(p *corev1.Pod, pairs ...string) *corev1.Pod {
	p.Annotations = map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		p.Annotations[pairs[i]] = pairs[i+1]
	}
	return p
}

func TestPlace(t *testing.T) {
	const js, fc, kf = "jobset.sigs.k8s.io/", "FC_", "training.kubeflow.org/"
	cases := map[string]struct {
		kind *Kind
		pod  *corev1.Pod
		want string
	}{
		"PyTorch worker":           {pytorchJob, labelled("t-worker-3", kf+"replica-type", "worker", kf+"replica-index", "3"), "Worker 3 true"},
		"TF parameter server":      {tfJob, labelled("t-ps-0", kf+"replica-type", "ps", kf+"replica-index", "0"), "PS 0 true"},
		"role of another kind":     {jaxJob, labelled("t-master-0", kf+"replica-type", "master", kf+"replica-index", "0"), " 0 false"},
		"no labels":                {pytorchJob, labelled("t-worker-3"), " 0 false"},
		"MPI v1 worker by name":    {mpiJob, labelled("t-worker-11", kf+"replica-type", "worker"), "Worker 11 true"},
		"MPI launcher by its role": {mpiJob, labelled("t-launcher-x2x4p", kf+"job-role", "launcher"), "Launcher 0 true"},
		"MPI worker by its role":   {mpiJob, labelled("t-worker-1", kf+"job-role", "worker", kf+"replica-index", "1"), "Worker 1 true"},
		"MPI v2 launcher pod":      {mpiJob, labelled("t-launcher-78912", kf+"replica-type", "launcher"), "Launcher 0 true"},
		"JobSet with one Job":      {jobSet, labelled("x", js+"replicatedjob-name", "node", js+"job-index", "0", js+"replicatedjob-replicas", "1", completionIndex, "5"), "node 5 true"},
		"JobSet with one pod each": {jobSet, labelled("x", js+"replicatedjob-name", "node", js+"job-index", "2", js+"replicatedjob-replicas", "4", completionIndex, "0"), "node 2 true"},
		"JobSet with both":         {trainJob, labelled("x", js+"replicatedjob-name", "node", js+"job-index", "1", js+"replicatedjob-replicas", "4", completionIndex, "3"), "node 13 true"},
		"JobSet without index":     {jobSet, labelled("x", js+"replicatedjob-name", "node"), "node 0 false"},
		"indexed Job":              {batchJob, labelled("x", "batch.kubernetes.io/job-name", "x", completionIndex, "7"), "pod 7 true"},
		"Job without indices":      {batchJob, labelled("x-abcde", "batch.kubernetes.io/job-name", "x"), "pod 0 true"},
		"T9k worker by label":      {colossalaiJob, labelled("whatever", "colossalaijob", "my-job", "colossalaijob-replica", "my-job-worker-2"), "worker 2 true"},
		"T9k launcher by name":     {colossalaiJob, labelled("my-job-launcher", "colossalaijob", "my-job"), "launcher 0 true"},
		"T9k parameter server":     {tensorflowTrainingJob, labelled("x", "tensorflowtrainingjob", "my-job", "tensorflowtrainingjob-replica", "my-job-ps-1"), "ps 1 true"},
		"T9k MPI launcher":         {t9kMPIJob, labelled("walk-launcher", "mpijob", "walk"), "launcher 0 true"},
		"leader of group 2":        {leaderWorkerSet, annotated(labelled("s-2", lwsName, "s", lwsGroup, "2", lwsWorker, "0"), lwsSize, "4"), "leader 2 true"},
		"worker of group 2":        {leaderWorkerSet, annotated(labelled("s-2-3", lwsName, "s", lwsGroup, "2", lwsWorker, "3"), lwsSize, "4"), "worker 8 true"},
		"worker beyond the size":   {leaderWorkerSet, annotated(labelled("s-2-4", lwsName, "s", lwsGroup, "2", lwsWorker, "4"), lwsSize, "4"), "worker 0 false"},
		"worker without a size":    {leaderWorkerSet, labelled("s-2-3", lwsName, "s", lwsGroup, "2", lwsWorker, "3"), "worker 0 false"},
		"Ray head":                 {rayCluster, labelled("pool-head-x7k2p", rayClusterLabel, "pool", rayNodeType, "head", rayGroup, "headgroup"), "head 0 true"},
		"Ray worker":               {rayJob, labelled("tune-x7k2p-gpu-worker-abcde", rayClusterLabel, "tune-x7k2p", rayNodeType, "worker", rayGroup, "gpu"), "gpu 0 true"},
		"Ray worker with an index": {rayJob, labelled("x", rayNodeType, "worker", rayGroup, "gpu", "ray.io/worker-group-replica-index", "3"), "gpu 3 true"},
		"Ray redis cleanup":        {rayCluster, labelled("x", rayNodeType, "redis-cleanup", rayGroup, "headgroup"), " 0 false"},
		"who submits a RayJob":     {rayJob, labelled("tune-abcde", batchJobName, "tune"), "submitter 0 true"},
		"Volcano task":             {volcanoJob, labelled("t-worker-3", volcanoJobName, "t", volcanoTask, "worker", volcanoIndex, "3"), "worker 3 true"},
		"Volcano, before labels":   {volcanoJob, annotated(labelled("t-worker-3"), volcanoTask, "worker", volcanoIndex, "3"), "worker 3 true"},
		"T9k stranger":             {colossalaiJob, labelled("my-job-worker", "colossalaijob", "my-job"), " 0 false"},
		"Framework task":           {framework, labelled("f-worker-4", fc+"FRAMEWORK_NAME", "f", fc+"TASKROLE_NAME", "worker", fc+"TASK_INDEX", "4"), "worker 4 true"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			role, index, ok := tc.kind.Place(tc.pod)
			if diff := cmp.Diff(tc.want, fmt.Sprintf("%s %d %t", role, index, ok)); diff != "" {
				t.Errorf("Place (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsAreSelectedByLabel(t *testing.T) {
	want := map[string]string{
		"PyTorchJob":    "training.kubeflow.org/job-name in (train),training.kubeflow.org/operator-name in (pytorchjob-controller)",
		"MPIJob":        "training.kubeflow.org/job-name in (train),training.kubeflow.org/operator-name in (mpi-operator,mpijob-controller)",
		"TrainJob":      "jobset.sigs.k8s.io/jobset-name in (train)",
		"JobSet":        "jobset.sigs.k8s.io/jobset-name in (train)",
		"Job":           "batch.kubernetes.io/job-name in (train)",
		"ColossalAIJob": "colossalaijob in (train)",
		"Framework":     "FC_FRAMEWORK_NAME in (train)",

		"LeaderWorkerSet": "leaderworkerset.sigs.k8s.io/name in (train)", "RayCluster": "ray.io/cluster in (train)",
		"PyTorchTrainingJob": "pytorchtrainingjob in (train)", "MPIJob.batch.tensorstack.dev": "mpijob in (train)",
		"Job.batch.volcano.sh": "volcano.sh/job-name in (train)",
	}
	for _, k := range All() {
		if w, ok := want[k.Name]; ok {
			if diff := cmp.Diff(w, k.Pods(job.Ref{Name: "train"}).String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", k.Name, diff)
			}
		}
		// A name that no label can hold selects nothing, not everything.
		if s := k.Pods(job.Ref{Name: strings.Repeat("x", 64)}); s.Empty() || s.String() != "" {
			t.Errorf("%s: a name of 64 characters selects %q", k.Name, s)
		}
	}
}

// The pods of a RayJob have no label in common: its Job submits, and its cluster has a name of its own.
func TestPodsOfARayJob(t *testing.T) {
	for status, want := range map[string]string{
		"{}":                           "batch.kubernetes.io/job-name in (tune)",
		"{rayClusterName: tune-x7k2p}": "batch.kubernetes.io/job-name in (tune) | ray.io/cluster in (tune-x7k2p)",
	} {
		u := objectOf(t, "{metadata: {name: tune}, status: "+status+"}")
		var got []string
		for _, s := range rayJob.Select(job.Ref{Name: "tune"}, u) {
			got = append(got, s.String())
		}
		if diff := cmp.Diff(want, strings.Join(got, " | ")); diff != "" {
			t.Errorf("status %s (-want +got):\n%s", status, diff)
		}
	}
}

// What decides how much a job takes is read however much else the job holds: else whoever adds
// enough of it would not be looked at.
func TestLargeJobsAreReadAsFarAsTheyCount(t *testing.T) {
	var env []any
	for i := range 25_000 {
		env = append(env, map[string]any{"name": fmt.Sprintf("E%d", i), "value": "x"})
	}
	var containers []any
	for i := range 1_000 {
		containers = append(containers, map[string]any{
			"name": fmt.Sprintf("c%d", i), "image": "evil.example/x:1", "env": env[:60],
			"resources": map[string]any{"limits": map[string]any{"nvidia.com/gpu": "1"}},
		})
	}
	pod := func(containers ...any) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": "x"}, "spec": map[string]any{
			"pytorchReplicaSpecs": map[string]any{"Worker": map[string]any{
				"replicas": int64(50), "template": map[string]any{"spec": map[string]any{"containers": containers}},
			}},
		}}
	}
	one := map[string]any{"name": "pytorch", "image": "evil.example/x:1", "env": env, "resources": map[string]any{"limits": map[string]any{"nvidia.com/gpu": "8"}}}
	cases := map[string]struct {
		object map[string]any
		gpus   int64 // per pod, at least
		cut    job.Path
	}{
		"a long environment":        {pod(one), 8, "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].env"},
		"many containers with some": {pod(containers...), 100, "spec.pytorchReplicaSpecs.Worker.template.spec.containers"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			j, err := pytorchJob.Read(&unstructured.Unstructured{Object: tc.object}, nil)
			var unread *ReadError
			if !errors.As(err, &unread) || unread.Problems[0].Path != tc.cut {
				t.Fatalf("%v; want to be told that %s was cut", err, tc.cut)
			}
			if j == nil || len(j.Roles) != 1 || j.Roles[0].Replicas.Max != 50 || j.Roles[0].Pod.GPUs().N < tc.gpus || j.Roles[0].Pod.Spec.Containers[0].Image != "evil.example/x:1" {
				t.Errorf("%+v; want 50 pods of that image with at least %d GPUs each", j, tc.gpus)
			}
			if values, _ := measure(j.Source.Object["spec"], 1); values > largest {
				t.Errorf("others are handed %d values", values)
			}
		})
	}
}
