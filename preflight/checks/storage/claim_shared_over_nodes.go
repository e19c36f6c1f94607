package storage

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var claimSharedOverNodes = &check.Check{
	Name:     "claim-shared-over-nodes",
	Title:    "several pods mount a claim that one node can have at a time",
	Remedy:   "Use a claim with ReadWriteMany or ReadOnlyMany, or mount it in one pod only.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) {
		pods, first := map[string]int{}, map[string]facts.ClaimUse{}
		var names []string
		for _, u := range facts.ClaimsOf(p) {
			name := u.Claim.Name
			if _, met := first[name]; !met {
				names = append(names, name)
			}
			if was, met := first[name]; !met || was.Role.Replicas.Max < 2 && u.Role.Replicas.Max > 1 {
				first[name] = u
			}
			pods[name] = saturate.Add(pods[name], u.Role.Replicas.Max)
		}
		for _, name := range names {
			u := first[name]
			if pods[name] < 2 || len(u.Claim.Spec.AccessModes) == 0 {
				continue
			}
			if f, ok := sharing(u, pods[name]); ok {
				p.Report(f)
			}
		}
	},
}

// sharing is what to say about a claim that so many pods mount; ok is false where all may.
func sharing(u facts.ClaimUse, pods int) (finding.Finding, bool) {
	f := finding.Finding{Path: u.At, Facts: []finding.Fact{{Name: "pods", Value: int64(pods)}}}
	only := func(mode corev1.PersistentVolumeAccessMode) bool {
		return !slices.ContainsFunc(u.Claim.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool { return m != mode })
	}
	switch {
	case only(corev1.ReadWriteOncePod):
		f.Severity = finding.Error
		f.Message = fmt.Sprintf("%s mount claim %q, but its access mode ReadWriteOncePod allows only one", facts.Count(pods, "pod"), u.Claim.Name)
	case only(corev1.ReadWriteOnce) && !stayTogether(u.Role):
		f.Message = fmt.Sprintf("%s mount claim %q, but its access mode ReadWriteOnce allows only one node at a time", facts.Count(pods, "pod"), u.Claim.Name)
	default:
		return f, false
	}
	return f, true
}

// stayTogether says whether the pods of a role are kept on one node: by its name, or by
// affinity to each other.
func stayTogether(r *job.Role) bool {
	spec := &r.Pod.Spec
	if spec.NodeName != "" || spec.NodeSelector[corev1.LabelHostname] != "" {
		return true
	}
	return slices.ContainsFunc(podspec.PodAffinity(spec), func(t corev1.PodAffinityTerm) bool { return t.TopologyKey == corev1.LabelHostname })
}
