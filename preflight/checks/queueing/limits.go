package queueing

import (
	"cmp"
	"fmt"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// limits are the checks of rules between a job and the nodes, one a row.
var limits = []*check.Check{
	limit(quota.RuleQueueMissing, finding.Error, "queue-missing", "the queue of the job does not exist or does not take it", "Name a queue that takes jobs of the namespace."),
	limit(quota.RuleQueueClosed, finding.Warning, "queue-closed", "the queue of the job takes no jobs", "Ask who stopped the queue, or name another one."),
	limit(quota.RuleQueueQuota, finding.Error, "queue-quota-exceeded", "the job asks for more than its queue could ever give", "Ask for less, or name a queue with more quota."),
	limit(quota.RuleShape, finding.Error, "queue-shape-exceeded", "a pod is larger than the queue takes", "Ask for less in each pod, or name a queue that takes larger ones."),
	limit(quota.RuleRange, finding.Error, "limit-range-violated", "a pod or container is outside the LimitRange of its namespace", "Keep the amount within the bounds of the LimitRange, or have them widened."),
	limit(quota.RuleAmount, finding.Error, "quota-amount-missing", "a container does not say an amount that a quota needs", "Write the amount for every container, or have a LimitRange fill it in."),
	limit(quota.RuleQuota, finding.Error, "quota-exceeded", "the job in sum is above a ResourceQuota of its namespace", "Ask for less, or have the quota raised."),
	limit(quota.RuleMembers, finding.Error, "pod-group-above-gang", "a pod group waits for more pods than the job has", "Lower the minimum of the pod group to the number of pods, or add pods."),
	limit(quota.RuleDevices, finding.Error, "devices-exceed-published", "the pods claim more devices than the nodes publish", "Claim no more devices than one node has, and spread the work over more pods."),
	limit(quota.RulePool, finding.Error, "node-pool-limit-exceeded", "the job asks for more than the node pools may ever add", "Ask for less, or have the limits of the node pools raised."),
}

// limit is the check of one rule.
func limit(rule quota.Rule, severity finding.Severity, name, title, remedy string) *check.Check {
	return &check.Check{
		Name: name, Title: title, Remedy: remedy,
		Severity: severity, Since: "0.1",
		Stops: true,
		Needs: check.Objects | check.Whole,
		Run: func(p *check.Pass) {
			for _, l := range p.Limits() {
				if l.Rule != rule || rule == quota.RuleQueueQuota && l.When != quota.Never {
					continue // waiting is what a queue is for
				}
				if rule == quota.RuleMembers && l.Path == l.At {
					continue // the job's own minimum: gang-min-above-replicas says so
				}
				f := limitFinding(l)
				f.Remedy = l.Remedy
				if rule == quota.RuleShape {
					verb := map[bool]string{true: "Lower", false: "Write the amount in"}[l.Hard > 0]
					f.Remedy = fmt.Sprintf("%s %s, or name a queue that takes larger pods in %s.", verb, f.Path, gang.Of(p.Job).At)
				}
				if rule == quota.RuleQuota && l.When == quota.Now {
					f.Severity, f.Remedy = finding.Warning, "Wait for other pods of the namespace to end, or ask for less."
				}
				p.Report(f)
			}
		},
	}
}

// limitFinding says what a limit is, where the job asks for it.
func limitFinding(l quota.Violation) finding.Finding {
	meant := check.DidYouMean(l.Name, l.Others)
	if meant.Name() != "" {
		l.Others = nil
	}
	f := finding.Finding{Path: cmp.Or(l.At, "spec"), Message: l.String() + meant.String(), Rule: string(l.Rule)}
	f.Facts = []finding.Fact{{Name: "kind", Value: l.Kind}, {Name: "name", Value: l.Name}, {Name: "when", Value: l.When.String()}}
	if l.Resource != "" {
		f.Facts = append(f.Facts, finding.Fact{Name: "resource", Value: l.Resource}, finding.Fact{Name: "asked", Value: l.Asked},
			finding.Fact{Name: "used", Value: l.Used}, finding.Fact{Name: "hard", Value: l.Hard})
	}
	return f
}
