package kinds

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var xgboostTrainingJob = &Kind{
	Name:     "XGBoostTrainingJob",
	Resource: "xgboosttrainingjobs",
	GVKs:     []schema.GroupVersionKind{t9k("XGBoostTrainingJob")},
	Doc: "The replicas of TensorStack's XGBoostTrainingJob (master, worker), after its public manual (neither its CRD nor " +
		"its controller is public): one replica unless it says otherwise, restart policy Never on the pods because the " +
		"controller restarts them, a container called xgboost. Success is the master's.",
	Read:  readXGBoostTrainingJob,
	Pods:  t9kPods("xgboosttrainingjob"),
	Place: t9kPlace("xgboosttrainingjob"),
	State: t9kState,
	Operator: t9kRestarts(Operator{
		Parts:       map[string]Part{"master": Leader, "worker": Worker},
		RoleChoices: []Choice{{At: "restartPolicy", Words: restartWords}},
		Collective:  true,
	}),
}

// Source: github.com/t9k/user-manuals fbf6b3cd src/references/api-reference/xgboosttrainingjob.md.
type xgboostTrainingSpec struct {
	ReplicaSpecs []t9kReplica `json:"replicaSpecs"`
	RunPolicy    t9kRunPolicy `json:"runPolicy"`
	t9kShared
}

func readXGBoostTrainingJob(u *unstructured.Unstructured, _ Got) (*job.Job, error) {
	r, o := open[xgboostTrainingSpec]("XGBoostTrainingJob", u)
	if o == nil {
		return r.finish(nil)
	}
	j := r.start(u, o.APIVersion, &o.Metadata)
	o.Spec.t9kShared.apply(j)
	j.Roles = t9kReplicas(r, o.Spec.ReplicaSpecs, []string{"master", "worker"}, called("xgboost"))
	for i := range j.Roles {
		settle(&j.Roles[i])
	}
	t9kMarks(j, "xgboosttrainingjob")
	gang(r, j)
	return r.finish(j)
}
