package quota

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// mostSharers is how many pods may have a claim at a time.
const mostSharers = resourcev1.ResourceClaimReservedForMaxSize

// sharedClaims reports claims that more pods share than may: the scheduler leaves the others where they are
// (https://pkg.go.dev/k8s.io/api/resource/v1#ResourceClaimReservedForMaxSize).
func (o *check) sharedClaims() {
	if !slices.ContainsFunc(o.gang.Groups, func(g gang.Group) bool { return slices.ContainsFunc(g.Pod.Spec.ResourceClaims, shared) }) {
		return
	}
	for _, set := range o.together() {
		all, missing, first := map[string]int64{}, map[string]int64{}, map[string]job.Path{}
		var names []string
		for _, i := range set {
			g := &o.gang.Groups[i]
			for k, claim := range g.Pod.Spec.ResourceClaims {
				if !shared(claim) || o.wanted(i) == 0 {
					continue
				}
				name := *claim.ResourceClaimName
				if _, seen := all[name]; !seen {
					names, first[name] = append(names, name), g.Pod.At(job.Path("resourceClaims").Index(k))
				}
				all[name], missing[name] = saturate.Add(all[name], o.wanted(i)), saturate.Add(missing[name], o.missing(i))
			}
		}
		for _, name := range names {
			held := int64(0)
			if claim := cluster.Find[resourcev1.ResourceClaim](o.s.Index(), cluster.ClaimGVK, o.gang.Namespace, name); claim != nil {
				held = int64(len(claim.Status.ReservedFor))
			}
			v := Violation{
				Rule: RuleDevices, When: Never, Kind: "ResourceClaim", Namespace: o.gang.Namespace, Name: name, Resource: "pods", Asked: all[name], Hard: mostSharers,
				Path: "status.reservedFor", At: first[name], Message: fmt.Sprintf("%d pods share it, and no more than %d may at a time", all[name], mostSharers),
				Remedy: "Let each pod have a claim of its own, made from a ResourceClaimTemplate.",
			}
			if all[name] <= mostSharers {
				v.When, v.Asked, v.Used = Now, missing[name], held
				v.Message = fmt.Sprintf("%d more pods are to share it beside %d that do, and no more than %d may at a time", missing[name], held, mostSharers)
			}
			if all[name] > mostSharers || missing[name] > 0 && held+missing[name] > mostSharers {
				o.add(v)
			}
		}
	}
}

// shared says that the claim is none that is made for each pod.
func shared(c corev1.PodResourceClaim) bool { return c.ResourceClaimName != nil }
