package manifest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

const protocolJob = `protocolVersion: 2
name: Mnist_1
type: job
jobRetryCount: 3
parameters: {lr: 0.1, sizes: [8, 16]}
secrets: {token: abc}
prerequisites:
- {name: img, type: dockerimage, uri: "openpai/standard:python_3.6-pytorch_1.2.0-gpu"}
- {name: set, type: data, uri: [/data/mnist]}
taskRoles:
  Zeta_1:
    instances: 2
    dockerImage: img
    data: set
    taskRetryCount: 5
    completion: {minFailedInstances: 2}
    resourcePerInstance:
      cpu: 48
      memoryMB: 8192
      gpu: 1
    extraContainerOptions: {shmMB: 1024, infiniband: true}
    commands:
    - "cd /job "
    - python train.py --lr <% $parameters.lr %> --b <% $parameters.sizes[1] %> --all <% $parameters.sizes %> --d <% $data.uri[0] %> --t <% $secrets.token %><% $parameters.none %>
  alpha:
    dockerImage: img
    resourcePerInstance: {cpu: 1, memoryMB: 512, gpu: 0}
    commands: [sleep 1]
defaults: {deployment: d}
deployments:
- name: d
  taskRoles:
    alpha: {preCommands: [before], postCommands: [after]}
`

func protocolDocument(t *testing.T, text string) Document {
	t.Helper()
	var out []Document
	for d, err := range Read("job.yaml", strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d)
	}
	if len(out) != 1 || !out[0].OpenPAI() {
		t.Fatalf("%d documents", len(out))
	}
	return out[0]
}

// What OpenPAI's rest-server makes of a job file, as far as the file decides.
func TestAJobFileOfOpenPAIIsTheFrameworkItBecomes(t *testing.T) {
	o := protocolDocument(t, protocolJob).Object.Object
	get := func(path job.Path) any {
		v, err := path.Resolve(o)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const zeta, pod = job.Path("spec.taskRoles[0]"), job.Path("spec.taskRoles[0].task.pod.spec")
	for path, want := range map[job.Path]any{
		"kind": "Framework", "metadata.name": "mnist1", "spec.retryPolicy.maxRetryCount": int64(3), "spec.retryPolicy.fancyRetryPolicy": true,
		zeta.Child("name"): "zeta1", zeta.Child("taskNumber"): int64(2), // the order of the file
		zeta.Child("task", "retryPolicy", "maxRetryCount"):                      int64(0), // the job starts as one gang
		zeta.Child("frameworkAttemptCompletionPolicy", "minFailedTaskCount"):    int64(2),
		zeta.Child("frameworkAttemptCompletionPolicy", "minSucceededTaskCount"): int64(2),
		pod.Join("containers[0].image"):                                         "openpai/standard:python_3.6-pytorch_1.2.0-gpu",
		pod.Join(`containers[0].resources.limits["nvidia.com/gpu"]`):            "1",
		pod.Join(`containers[0].resources.limits["rdma/hca"]`):                  "1",
		pod.Join("containers[0].resources.limits.memory"):                       "8192Mi",
		pod.Join("volumes[0].emptyDir.sizeLimit"):                               "1024Mi",
		"spec.taskRoles[1].taskNumber":                                          int64(1),
		"spec.taskRoles[1].task.pod.spec.volumes[0].emptyDir.sizeLimit":         "512Mi",
		"spec.taskRoles[1].frameworkAttemptCompletionPolicy.minFailedTaskCount": int64(1),
		"spec.taskRoles[1].task.pod.spec.containers[0].command[2]":              "before\nsleep 1\nafter",
	} {
		if got := get(path); got != want {
			t.Errorf("%s is %v (%T), want %v", path, got, got, want)
		}
	}
	want := []any{"bash", "-euc", "cd /job\npython train.py --lr 0.1 --b 16 --all 8,16 --d /data/mnist --t SECRET<% $parameters.none %>"}
	if diff := cmp.Diff(want, get(pod.Join("containers[0].command"))); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
}

// Whatever is said of the Framework points at the line that the user wrote.
func TestPathsOfAJobFileLeadBackToIt(t *testing.T) {
	d := protocolDocument(t, protocolJob)
	for path, want := range map[job.Path]struct {
		written job.Path
		line    int
	}{
		"metadata.name":                  {"name", 2},
		"spec.retryPolicy.maxRetryCount": {"jobRetryCount", 4},
		"spec.taskRoles[0].taskNumber":   {"taskRoles.Zeta_1.instances", 12},
		"spec.taskRoles[0].task.pod.spec.containers[0].resources.limits.cpu":                               {"taskRoles.Zeta_1.resourcePerInstance.cpu", 18},
		`spec.taskRoles[name=zeta1].task.pod.spec.containers[name=app].resources.limits["nvidia.com/gpu"]`: {"taskRoles.Zeta_1.resourcePerInstance.gpu", 20},
		"spec.taskRoles[0].task.pod.spec.containers[0].command[2]":                                         {"taskRoles.Zeta_1.commands[1]", 24}, // a tag stayed in it
		"spec.taskRoles[0].task.pod.spec.containers[0].command[0]":                                         {"taskRoles.Zeta_1.commands", 22},
		"spec.taskRoles[0].task.pod.spec.volumes[0].emptyDir":                                              {"taskRoles.Zeta_1.extraContainerOptions", 21},
		"spec.taskRoles[1].task.pod.spec.restartPolicy":                                                    {"taskRoles.alpha", 25},
		"taskRoles.alpha.commands":                                                                         {"taskRoles.alpha.commands", 28},
	} {
		if got, line := d.Written(path), d.Position(path); got != want.written || line != want.line {
			t.Errorf("%s is %s in line %d, want %s in line %d", path, got, line, want.written, want.line)
		}
	}
}

// Retries of single tasks are dropped where the tasks start as one gang: nothing else tells the author.
func TestWhatOpenPAIDropsOfAJobFile(t *testing.T) {
	const dropped = "job.yaml:15: taskRoles.Zeta_1.taskRetryCount has no effect: the tasks of a job start as one gang, and are tried again together, as long as extras.gangAllocation is not false"
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"one gang":    {protocolJob, []string{dropped}},
		"no gang":     {protocolJob + "extras: {gangAllocation: false}\n", nil},
		"no retries":  {strings.Replace(protocolJob, "taskRetryCount: 5", "taskRetryCount: 0", 1), nil},
		"not written": {strings.Replace(protocolJob, "    taskRetryCount: 5\n", "", 1), nil},
	} {
		if diff := cmp.Diff(tc.want, protocolDocument(t, tc.text).Remarks()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What the rest-server refuses is told with its line, all of it at once.
// TestAJobFileIsSpokenOfInItsWords: its author never saw the Framework.
func TestAJobFileIsSpokenOfInItsWords(t *testing.T) {
	d := protocolDocument(t, protocolJob)
	const policy, task = job.Path("spec.taskRoles[0].frameworkAttemptCompletionPolicy"), job.Path("spec.taskRoles[0].task.retryPolicy.maxRetryCount")
	for _, tc := range []struct {
		path       job.Path
		text, want string
	}{
		{policy.Child("minSucceededTaskCount"), "minSucceededTaskCount is 4; zeta1 has 2 tasks", "minSucceededInstances is 4; zeta1 has 2 tasks"},
		{policy, "Write minFailedTaskCount: 1, or a taskNumber of 1 or more.", "Write minFailedInstances: 1, or instances of 1 or more."},
		{task, "maxRetryCount is -2", "taskRetryCount is -2"},
		{"spec.retryPolicy.maxRetryCount", "maxRetryCount is 5", "jobRetryCount is 5"},
	} {
		if got := d.InItsWords(tc.path, tc.text); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
	if got := d.Written(policy.Child("minFailedTaskCount")); got != "taskRoles.Zeta_1.completion.minFailedInstances" {
		t.Errorf("the path is %s", got)
	}
}

func TestAJobFileThatOpenPAIRefuses(t *testing.T) {
	replace := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(protocolJob) }
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"another version":             {replace("protocolVersion: 2", "protocolVersion: 3"), []string{"job.yaml:1: protocolVersion is 3; expected 2"}},
		"an image that is none":       {replace("dockerImage: img\n    data", "dockerImage: image\n    data"), []string{`job.yaml:13: taskRoles.Zeta_1.dockerImage is "image", and no prerequisite of type dockerimage has that name; expected one of prerequisites: img`}},
		"two of one name":             {replace("{name: set, type: data, uri: [/data/mnist]}", "{name: img, type: dockerimage, uri: x}\n- {name: set, type: data, uri: [/d]}"), []string{`job.yaml:9: prerequisites[1].name is "img", as that of another dockerimage is; expected a name of its own`}},
		"a resource is missing":       {replace("      gpu: 1\n", ""), []string{"job.yaml:17: taskRoles.Zeta_1.resourcePerInstance.gpu is missing; expected a number"}},
		"a text for a number":         {replace("cpu: 48", "cpu: many"), []string{`job.yaml:18: taskRoles.Zeta_1.resourcePerInstance.cpu is "many"; expected a whole number`}},
		"no instance":                 {replace("instances: 2", "instances: 0"), []string{"job.yaml:12: taskRoles.Zeta_1.instances is 0; expected 1 or more"}},
		"fewer retries than none":     {replace("jobRetryCount: 3", "jobRetryCount: -2"), []string{"job.yaml:4: jobRetryCount is -2; expected 0 or more"}},
		"a login's unknown secret":    {replace("pytorch_1.2.0-gpu\"}", "pytorch_1.2.0-gpu\", auth: {username: a, password: <% $secrets.tokens %>}}"), []string{"job.yaml:8: prerequisites[0].auth.password names $secrets.tokens, which the file does not have; expected the name of one of secrets"}},
		"a field that is none":        {replace("jobRetryCount: 3", "jobRetries: 3"), []string{"job.yaml:4: jobRetries is no field of the protocol; expected one of "}},
		"a resource that is none":     {replace("      gpu: 1\n", "      gpu: 1\n      memory: 8\n"), []string{"job.yaml:21: taskRoles.Zeta_1.resourcePerInstance.memory is no field of the protocol; expected one of cpu, memoryMB, gpu, ports"}},
		"a completion that is none":   {replace("minFailedInstances: 2", "minFailedTaskCount: 2"), []string{"job.yaml:16: taskRoles.Zeta_1.completion.minFailedTaskCount is no field of the protocol; expected one of minFailedInstances, minSucceededInstances"}},
		"a command before that none":  {replace("preCommands", "before"), []string{"job.yaml:33: deployments[0].taskRoles.alpha.before is no field of the protocol; expected one of preCommands, postCommands"}},
		"no commands":                 {replace("commands: [sleep 1]", "commands: []"), []string{"job.yaml:28: taskRoles.alpha.commands is []; expected at least one command"}},
		"no such deployment":          {replace("deployment: d}", "deployment: e}"), []string{`job.yaml:29: defaults.deployment is "e", and no deployment has that name; expected one of deployments`}},
		"two deployments of one name": {protocolJob + "- {name: d, taskRoles: {}}\n", []string{`job.yaml:34: deployments[1].name is "d", as that of another deployment is; expected a name of its own`}},
		"no roles and no name":        {"protocolVersion: 2\ntype: job\n", []string{"job.yaml:1: name is empty", "job.yaml:1: taskRoles is empty; expected at least one task role"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for d, err := range Read("job.yaml", strings.NewReader(tc.text)) {
				if err == nil {
					t.Fatalf("it was read as %s", d.Object.GetKind())
				}
				got = append(got, err.Error())
			}
			if len(got) != len(tc.want) || slices.ContainsFunc(tc.want, func(w string) bool {
				return !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) })
			}) {
				t.Errorf("it says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

// What a job writes for HiveD is held against the rules that need no cluster.
func TestAJobFileForHiveDThatOpenPAIRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ hived, want string }{
		"a class of no priority":      {"{jobPriorityClass: high}", `extras.hivedScheduler.jobPriorityClass is "high"; expected crit, prod, test or oppo`},
		"a role that is none":         {"{taskRoles: {beta: {skuType: A}}}", "extras.hivedScheduler.taskRoles.beta is of a task role that the job does not have; expected one of taskRoles"},
		"a SKU and a cell":            {"{taskRoles: {alpha: {skuType: A, pinnedCellId: c}}}", "extras.hivedScheduler.taskRoles.alpha has both skuType A and pinnedCellId c; expected one of the two"},
		"a group of two SKUs":         {"{taskRoles: {Zeta_1: {skuType: A, affinityGroupName: g}, alpha: {skuType: B, affinityGroupName: g}}}", `extras.hivedScheduler.taskRoles.alpha.affinityGroupName is "g", whose other task roles name another skuType or pinnedCellId; expected the same in all of a group`},
		"a group of one, all is well": {"{jobPriorityClass: crit, taskRoles: {alpha: {skuType: A, affinityGroupName: g}}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.TrimRight(strings.SplitN(protocolJob, "\nextras:", 2)[0], "\n") + "\nextras: {hivedScheduler: " + tc.hived + "}\n"
			got := ""
			for _, err := range Read("job.yaml", strings.NewReader(text)) {
				if err != nil {
					got += err.Error()
				}
			}
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("it says %q, want %q", got, tc.want)
			}
		})
	}
}

// The claims of a job's storages are mounted into every task.
func TestTheStoragesOfAJobFile(t *testing.T) {
	d := protocolDocument(t, protocolJob+"extras: {storages: [{share: false}, {name: home}, {name: sets, mountPath: /data, readOnly: true}]}\n")
	for path, want := range map[job.Path]any{
		"containers[0].volumeMounts[1].mountPath":    "/mnt/home",
		"containers[0].volumeMounts[2].mountPath":    "/data",
		"volumes[1].persistentVolumeClaim.claimName": "home",
		"volumes[2].persistentVolumeClaim.readOnly":  true,
		"containers[0].volumeMounts[0].name":         "dshm",
	} {
		for _, role := range []job.Path{"spec.taskRoles[0]", "spec.taskRoles[1]"} {
			at := role.Join("task.pod.spec").Join(path)
			if got, err := at.Resolve(d.Object.Object); err != nil || got != want {
				t.Errorf("%s is %v (%v), want %v", at, got, err, want)
			}
		}
	}
	if got := d.Written("spec.taskRoles[1].task.pod.spec.volumes[2].persistentVolumeClaim.claimName"); got != "extras.storages[2]" {
		t.Errorf("the claim was written at %s", got)
	}
}

// What the rest-server keeps of the file shows no secret.
func TestTheValuesOfSecretsStayOut(t *testing.T) {
	kept := protocolDocument(t, protocolJob).Object.GetAnnotations()["config"]
	if strings.Contains(kept, "abc") || !strings.Contains(kept, `"secrets":{"token":"******"}`) {
		t.Errorf("it keeps %s", kept)
	}
}
