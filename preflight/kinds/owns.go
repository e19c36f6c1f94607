package kinds

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Owns says whether the controller of a pod is a job, or leads to it by what is between the two, and the UID of the job that
// it leads to. Absent: it leads to something else, be it an earlier job of the same name; Unknown: what is between was not
// read, or the pod has a controller of which nothing is known.
func (k *Kind) Owns(ref job.Ref, controller metav1.OwnerReference, got Got) (owns job.Presence, uid string) {
	for above := range 2 + len(k.Between) { // the kind of one may be there twice
		if controller.Kind == ref.Kind && controller.Name == ref.Name {
			if uid = string(controller.UID); uid != "" && ref.UID != "" && uid != ref.UID {
				return job.Absent, uid
			}
			return job.Present, uid
		}
		at := slices.IndexFunc(k.Between, func(gvk schema.GroupVersionKind) bool { return gvk.Kind == controller.Kind })
		if at < 0 && above == 0 || at >= 0 && k.Between[at] == pods { // of pods a view keeps no objects
			return job.Unknown, ""
		}
		if at < 0 {
			break
		}
		object, presence := got.Get(Want{k.Between[at], ref.Namespace, controller.Name})
		if presence != job.Present {
			return presence, ""
		}
		next := metav1.GetControllerOf(object)
		if next == nil {
			break
		}
		controller = *next
	}
	return job.Absent, ""
}
