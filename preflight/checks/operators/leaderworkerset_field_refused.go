package operators

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Source: sigs.k8s.io/lws v0.9.0 pkg/webhooks/leaderworkerset_webhook.go, generalValidate
// (https://github.com/kubernetes-sigs/lws/blob/v0.9.0/pkg/webhooks/leaderworkerset_webhook.go).
var leaderWorkerSetFieldRefused = &check.Check{
	Name:     "leaderworkerset-field-refused",
	Title:    "fields of the LeaderWorkerSet are ones that its webhook refuses",
	Remedy:   "Write values that LeaderWorkerSet takes together.",
	Severity: finding.Error, Refuses: true, Since: "0.2",
	Kinds: []string{"LeaderWorkerSet.leaderworkerset.x-k8s.io"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		refusedSubgroups(p)
		const rollout = job.Path("spec.rolloutStrategy.rollingUpdateConfiguration")
		if nothing(p.Job, rollout.Child("maxUnavailable")) && nothing(p.Job, rollout.Child("maxSurge")) {
			p.Reportf(rollout, "maxUnavailable and maxSurge are both 0: no roll-out could begin")
		}
	},
}

// refusedSubgroups: a group is divided into subgroups of one size, with its leader or without.
func refusedSubgroups(p *check.Pass) {
	const policy = job.Path("spec.leaderWorkerTemplate.subGroupPolicy")
	exclusive := job.Path("metadata.annotations").Key("leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology")
	if place := facts.TextAt(p.Job, exclusive); place != "" && p.Job.Field(policy) == nil {
		p.Reportf(exclusive, "subgroups are to have a %s to themselves, and subGroupPolicy is missing", place)
	}
	each, written := facts.Number(p.Job, policy.Child("subGroupSize"))
	if !written {
		return
	}
	size, written := facts.Number(p.Job, "spec.leaderWorkerTemplate.size")
	if !written {
		size = 1
	}
	apart := facts.TextAt(p.Job, policy.Child("subGroupPolicyType")) == "LeaderExcluded"
	switch at := policy.Child("subGroupSize"); {
	case each < 1:
		p.Reportf(at, "subGroupSize is %d; it takes 1 or more", each)
	case each > size:
		p.Reportf(at, "subGroupSize is %d, and a group has %s", each, facts.Count(size, "pod"))
	case apart && (size-1)%each != 0:
		p.Reportf(at, "subGroupSize is %d, which does not divide the %s of a group beside its leader", each, facts.Count(size-1, "pod"))
	case size%each != 0 && (size-1)%each != 0:
		p.Reportf(at, "subGroupSize is %d, which divides neither the %s of a group nor those beside its leader", each, facts.Count(size, "pod"))
	}
}

// nothing is 0, or 0 percent, in writing.
func nothing(j *job.Job, at job.Path) bool {
	written := fmt.Sprint(j.Field(at))
	return written == "0" || written == "0%"
}
