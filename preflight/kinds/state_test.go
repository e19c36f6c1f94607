package kinds

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestState(t *testing.T) {
	cases := map[string]struct {
		kind   *Kind
		status string
		want   string
	}{
		"nothing written yet":                  {pytorchJob, `{}`, `unknown  ""`},
		"failure is final whatever comes last": {pytorchJob, `{conditions: [{type: Failed, status: "True", reason: PyTorchJobFailed, message: m}, {type: Running, status: "True"}]}`, `failed PyTorchJobFailed "m"`},
		"false conditions say nothing":         {tfJob, `{conditions: [{type: Created, status: "True", reason: C}, {type: Running, status: "False"}]}`, `created C ""`},
		"restarting comes before running":      {paddleJob, `{conditions: [{type: Running, status: "True"}, {type: Restarting, status: "True", reason: R}]}`, `restarting R ""`},
		"suspended while created":              {jaxJob, `{conditions: [{type: Created, status: "True"}, {type: Suspended, status: "True", reason: S}]}`, `suspended S ""`},
		"MPIJob stutters":                      {mpiJob, `{conditions: [{type: Failed, status: "True", reason: MPIJobMPIJobFailed}]}`, `failed MPIJobFailed ""`},
		"MPIJob evicted":                       {mpiJob, `{conditions: [{type: Failed, status: "True", reason: MPIJobEvicted}]}`, `failed MPIJobEvicted ""`},
		"conditions of the wrong type":         {xgboostJob, `{conditions: {type: Failed}}`, `unknown  ""`},
		"conditions of wrong elements":         {xgboostJob, `{conditions: [1, null, {type: 1, status: true}]}`, `unknown  ""`},

		"JobSet terminal without condition": {jobSet, `{terminalState: Failed}`, `failed  ""`},
		"JobSet running":                    {jobSet, `{replicatedJobsStatus: [{name: a, ready: 1, active: 2}]}`, `running  "a: 1 ready, 2 active, 0 succeeded, 0 failed"`},
		"JobSet first start":                {jobSet, `{replicatedJobsStatus: [{name: a, active: 2}]}`, `created  "a: 0 ready, 2 active, 0 succeeded, 0 failed"`},
		"JobSet restarted":                  {jobSet, `{restarts: 1, replicatedJobsStatus: [{name: a, active: 2}]}`, `restarting  "restarted 1 time; a: 0 ready, 2 active, 0 succeeded, 0 failed"`},
		"JobSet failed":                     {jobSet, `{conditions: [{type: Failed, status: "True", reason: FailedJobs, message: "jobset failed (first failed job: a-0)"}]}`, `failed FailedJobs "jobset failed (first failed job: a-0)"`},

		"TrainJob has no running condition": {trainJob, `{jobsStatus: [{name: node, ready: 1, active: 1}]}`, `running  "node: 1 ready, 1 active, 0 succeeded, 0 failed"`},
		"TrainJob complete":                 {trainJob, `{conditions: [{type: Suspended, status: "False"}, {type: Complete, status: "True", reason: AllJobsCompleted}]}`, `succeeded AllJobsCompleted ""`},
		"TrainJob without runtime":          {trainJob, `{conditions: [{type: Failed, status: "True", reason: TrainingRuntimeNotSupported}]}`, `failed TrainingRuntimeNotSupported ""`},

		"Job running":          {batchJob, `{active: 2, ready: 1}`, `running  "1 ready, 2 active, 0 failed"`},
		"Job replacing a pod":  {batchJob, `{active: 1, ready: 0, failed: 2}`, `restarting  "0 ready, 1 active, 2 failed"`},
		"Job about to fail":    {batchJob, `{active: 1, conditions: [{type: FailureTarget, status: "True", reason: PodFailurePolicy}]}`, `failed PodFailurePolicy ""`},
		"Job about to succeed": {batchJob, `{conditions: [{type: SuccessCriteriaMet, status: "True"}]}`, `succeeded  ""`},

		"ColossalAIJob by phase":               {colossalaiJob, `{phase: Running, conditions: [{type: Running, status: "True", message: "All pods are running normally."}]}`, `running  "All pods are running normally."`},
		"ColossalAIJob Completed alone":        {colossalaiJob, `{conditions: [{type: Completed, status: "True"}]}`, `unknown  ""`},
		"ColossalAIJob Failed against phase":   {colossalaiJob, `{phase: Succeeded, conditions: [{type: Failed, status: "True", reason: Failed}]}`, `failed Failed ""`},
		"ColossalAIJob phase Failed, replicas": {colossalaiJob, `{phase: Failed, tasks: [{type: worker, replicas: [{name: a}, {name: x-worker-1, phase: Failed}]}]}`, `failed  "" x-worker-1`},
		"ColossalAIJob nobody knows of":        {colossalaiJob, `{phase: Unknown, conditions: [{type: Running, status: "True"}]}`, `unknown Unknown "the operator does not know how it stands"`},
		"ColossalAIJob resuming":               {colossalaiJob, `{phase: Resuming}`, `created Resuming "it resumes after a pause"`},

		"LeaderWorkerSet never ready":   {leaderWorkerSet, `{conditions: [{type: Progressing, status: "True", reason: GroupsProgressing}]}`, `created GroupsProgressing "0 of 1 group ready"`},
		"LeaderWorkerSet serving":       {leaderWorkerSet, `{readyReplicas: 1, conditions: [{type: Available, status: "True", reason: AllGroupsReady}]}`, `running AllGroupsReady "1 of 1 group ready"`},
		"LeaderWorkerSet lost a group":  {leaderWorkerSet, `{readyReplicas: 1, conditions: [{type: Available, status: "False"}, {type: Progressing, status: "True", reason: GroupsProgressing}]}`, `running GroupsProgressing "1 of 1 group ready"`},
		"LeaderWorkerSet without words": {leaderWorkerSet, `{readyReplicas: 1}`, `unknown  ""`},

		"RayCluster without words":        {rayCluster, `{}`, `unknown  ""`},
		"RayCluster of v1.1 failed":       {rayCluster, `{state: failed, reason: "pods is forbidden: exceeded quota"}`, `created failed "pods is forbidden: exceeded quota"`},
		"RayCluster that gets no pods":    {rayCluster, `{state: ready, conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreateWorkerPod, message: m}]}`, `created FailedCreateWorkerPod "m"`},
		"RayCluster suspended":            {rayCluster, `{state: suspended, conditions: [{type: RayClusterSuspended, status: "True"}]}`, `suspended  ""`},
		"RayCluster once provisioned":     {rayCluster, `{conditions: [{type: RayClusterProvisioned, status: "True", reason: AllPodRunningAndReadyFirstTime}]}`, `running AllPodRunningAndReadyFirstTime ""`},
		"RayJob whose cluster starts":     {rayJob, `{jobDeploymentStatus: Initializing, rayClusterStatus: {conditions: [{type: HeadPodReady, status: "False", reason: HeadPodNotFound, message: m}]}}`, `created HeadPodNotFound "m"`},
		"RayJob whose spec was refused":   {rayJob, `{jobDeploymentStatus: ValidationFailed, reason: ValidationFailed, message: "The RayJob spec is invalid"}`, `failed ValidationFailed "The RayJob spec is invalid"`},
		"RayJob that somebody stopped":    {rayJob, `{jobDeploymentStatus: Complete, jobStatus: STOPPED}`, `failed STOPPED ""`},
		"RayJob that ended well":          {rayJob, `{jobDeploymentStatus: Complete, jobStatus: SUCCEEDED, message: "Job finished successfully."}`, `succeeded  "Job finished successfully."`},
		"RayJob that is tried again":      {rayJob, `{jobDeploymentStatus: Retrying, failed: 1}`, `restarting  ""`},
		"RayJob in a state nobody knows":  {rayJob, `{jobDeploymentStatus: Dreaming}`, `unknown  ""`},
		"Volcano waits":                   {volcanoJob, `{state: {phase: Pending}, pending: 4}`, `created  "4 pending, 0 running, 0 succeeded, 0 failed"`},
		"Volcano was aborted":             {volcanoJob, `{state: {phase: Aborted, message: by hand}}`, `failed Aborted "by hand"`},
		"Volcano failed":                  {volcanoJob, `{state: {phase: Failed, reason: MaxRetry, message: m}}`, `failed MaxRetry "m"`},
		"Volcano says nothing":            {volcanoJob, `{}`, `unknown  ""`},
		"T9k TensorFlow, a replica fails": {tensorflowTrainingJob, `{phase: Running, conditions: [{type: ReplicaFailure, status: "True", reason: R, message: m}]}`, `running R "m"`},

		"Framework preparing":               {framework, `{state: AttemptPreparing}`, `created  ""`},
		"Framework running":                 {framework, `{state: AttemptRunning}`, `running  ""`},
		"Framework between attempts":        {framework, `{state: AttemptCompleted, attemptStatus: {completionStatus: {code: -1000, phrase: PodEvicted, type: {name: Failed}}}}`, `restarting PodEvicted (-1000) ""`},
		"Framework ends without a trigger":  {framework, `{state: Completed, attemptStatus: {completionStatus: {code: 0, phrase: Succeeded, type: {name: Succeeded}, diagnostics: "CompletedTaskCount 2 has reached TotalTaskCount 2"}}}`, `succeeded Succeeded (0) "CompletedTaskCount 2 has reached TotalTaskCount 2"`},
		"Framework ended, by what?":         {framework, `{state: Completed, attemptStatus: {completionStatus: {code: -220, phrase: FrameworkAttemptCompletion, type: {name: Failed}}}}`, `failed FrameworkAttemptCompletion (-220) ""`},
		"Framework names what ended it":     {framework, `{state: Completed, attemptStatus: {completionStatus: {code: 220, phrase: UserCommandExitWithError, type: {name: Failed}, trigger: {message: "FailedTaskCount 1", taskRoleName: ps, taskIndex: 1}}}}`, `failed UserCommandExitWithError (220) "FailedTaskCount 1" x-ps-1`},
		"Framework of a state nobody knows": {framework, `{state: Dreaming}`, `unknown  ""`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := tc.kind.State(objectOf(t, "{metadata: {name: x}, spec: {}, status: "+tc.status+"}"))
			got := fmt.Sprintf("%s %s %q", phaseNames[s.Phase], s.Reason, s.Message)
			if s.Trigger != "" {
				got += " " + s.Trigger
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("State (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStopped(t *testing.T) {
	for reason, want := range map[string]bool{"STOPPED": true, "Aborted": true, "Terminated": true, "JobCancelled": true, "StopFrameworkRequested (-210)": true, "FrameworkAttemptCompletion (-220)": false, "PyTorchJobFailed": false, "": false} {
		if got := (State{Phase: Failed, Reason: reason}).Stopped(); got != want {
			t.Errorf("stopped for reason %q = %t, want %t", reason, got, want)
		}
	}
	if (State{Phase: Succeeded, Reason: "JobCancelled"}).Stopped() {
		t.Error("a job that succeeded was stopped")
	}
}

// What a Framework's author asks for counts before its controller has done it.
func TestAFrameworkThatIsToStop(t *testing.T) {
	for status, want := range map[string]bool{
		"{state: AttemptRunning}": true,
		"{state: Completed, attemptStatus: {completionStatus: {code: -220, phrase: FrameworkAttemptCompletion, type: {name: Failed}}}}": true,
		"{state: Completed, attemptStatus: {completionStatus: {code: 0, phrase: Succeeded, type: {name: Succeeded}}}}":                  false,
		"{}": false,
	} {
		u := objectOf(t, "{metadata: {name: x, namespace: ml}, spec: {executionType: Stop}, status: "+status+"}")
		if got := framework.State(u).Stopped(); got != want {
			t.Errorf("%s: stopped: %v, want %v", status, got, want)
		}
	}
}
