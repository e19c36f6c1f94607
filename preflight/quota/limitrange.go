package quota

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// The API server fills in what containers do not say, and then refuses pods outside the
// bounds. The rules below are those of
// https://github.com/kubernetes/kubernetes/blob/v1.36.3/plugin/pkg/admission/limitranger/admission.go.

// Admitted is a pod template as the API server would store a pod of it in a namespace,
// as far as amounts go: with the defaults of the LimitRanges there. The template itself
// stays as it is.
func Admitted(s *cluster.Snapshot, namespace string, p job.Pod) job.Pod {
	if s == nil || s.Rules() == nil || len(p.Spec.Containers) == 0 {
		return p
	}
	limits, requests := corev1.ResourceList{}, corev1.ResourceList{}
	for _, r := range cluster.In[corev1.LimitRange](s.Index(), cluster.RangeKind, namespace) {
		for i := range r.Spec.Limits {
			if item := &r.Spec.Limits[i]; item.Type == corev1.LimitTypeContainer {
				maps.Copy(limits, podspec.WithMissing(limits, item.Default))
				maps.Copy(requests, podspec.WithMissing(requests, item.DefaultRequest))
			}
		}
	}
	if len(limits)+len(requests) == 0 {
		return p
	}
	// Pod-level requests follow from what the containers say themselves: they are filled in
	// when the pod is read, before the defaults of the namespace are.
	pod := &corev1.Pod{Spec: p.Spec}
	pod.Spec.Containers = podspec.RequestsFromLimits(p.Spec.Containers)
	pod.Spec.InitContainers = podspec.RequestsFromLimits(p.Spec.InitContainers)
	pod.Spec.Resources = podspec.PodRequestsFromLimits(pod)
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			list[i].Resources.Limits = podspec.WithMissing(list[i].Resources.Limits, limits)
			list[i].Resources.Requests = podspec.WithMissing(list[i].Resources.Requests, requests)
		}
	}
	p.Spec = pod.Spec
	p.Requests = podspec.Effective(&p.Spec)
	return p
}

// admitted is the gang with its pods as they would be stored.
func admitted(s *cluster.Snapshot, g gang.Gang) gang.Gang {
	if s == nil || s.Rules() == nil || !cluster.Any(cluster.In[corev1.LimitRange](s.Index(), cluster.RangeKind, g.Namespace)) {
		return g
	}
	g.Groups = slices.Clone(g.Groups)
	for i := range g.Groups {
		g.Groups[i].Pod = Admitted(s, g.Namespace, g.Groups[i].Pod)
	}
	return g
}

// limitRanges reports pods and containers outside the bounds of a LimitRange. Pods that exist
// have passed.
func (o *check) limitRanges() {
	for _, r := range cluster.In[corev1.LimitRange](o.s.Index(), cluster.RangeKind, o.gang.Namespace) {
		for i := range o.gang.Groups {
			g := &o.gang.Groups[i]
			if len(g.Pod.Spec.Containers) == 0 || g.Pod.Partial || g.Count == 0 || o.exist[i] > 0 {
				continue
			}
			for at := range r.Spec.Limits {
				o.rangeItem(r, at, g)
			}
		}
	}
}

// measured is something that a LimitRange bounds: a container, a pod in sum, or a claim.
type measured struct {
	who              string
	at               job.Path // of its amounts in the job; relative to the pod spec
	requests, limits corev1.ResourceList
	claim            bool // a claim of a volume, which has requests and no limits
}

// rangeItem compares a group with one entry of a LimitRange.
func (o *check) rangeItem(r *corev1.LimitRange, at int, g *gang.Group) {
	item := &r.Spec.Limits[at]
	var parts []measured
	switch item.Type {
	case corev1.LimitTypeContainer:
		for part, list := range containerLists(&g.Pod.Spec) {
			for i, c := range podspec.RequestsFromLimits(list) {
				parts = append(parts, measured{"container " + c.Name + " of " + g.Name, part.Index(i).Child("resources"), c.Resources.Requests, c.Resources.Limits, false})
			}
		}
	case corev1.LimitTypePod:
		requests, limits := podspec.RangeAmounts(&g.Pod.Spec)
		parts = append(parts, measured{"one pod of " + g.Name, "", requests, limits, false})
	case corev1.LimitTypePersistentVolumeClaim: // where it refuses the claim, the pod is there and is never scheduled
		for i := range g.Pod.Spec.Volumes {
			if v := &g.Pod.Spec.Volumes[i]; v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
				at := job.Path("volumes").Index(i).Child("ephemeral", "volumeClaimTemplate", "spec", "resources")
				parts = append(parts, measured{"the claim of volume " + v.Name + " of " + g.Name, at, v.Ephemeral.VolumeClaimTemplate.Spec.Resources.Requests, nil, true})
			}
		}
	}
	base := job.Path("spec.limits").Index(at)
	for _, m := range parts {
		o.filled(r, base.Child("default"), item, m, g)
		for _, bounds := range []struct {
			name  string
			list  corev1.ResourceList
			judge func(measured, corev1.ResourceName, resource.Quantity) (breach, bool)
		}{
			{"max", item.Max, measured.above}, {"min", item.Min, measured.below}, {"maxLimitRequestRatio", item.MaxLimitRequestRatio, measured.ratio},
		} {
			for _, name := range job.ResourcesOf(bounds.list).Names() {
				b, broken := bounds.judge(m, name, bounds.list[name])
				if !broken {
					continue
				}
				where := g.Pod.At(m.at)
				if b.field != "" && m.at != "" {
					where = g.Pod.At(m.at.Child(b.field).Key(string(name)))
				}
				o.add(Violation{
					Rule: RuleRange, When: Never, Kind: "LimitRange", Namespace: r.Namespace, Name: r.Name,
					Resource: string(name), Asked: b.asked, Hard: b.hard, Path: base.Child(bounds.name).Key(string(name)),
					Role: g.Name, At: where, Message: m.who + " " + b.text,
				})
			}
		}
	}
}

// filled reports a limit that is filled in and does not go with the request that is
// written: the API server refuses a request above its limit, and devices whose request and
// limit differ.
func (o *check) filled(r *corev1.LimitRange, path job.Path, item *corev1.LimitRangeItem, m measured, g *gang.Group) {
	if item.Type != corev1.LimitTypeContainer {
		return
	}
	for _, name := range job.ResourcesOf(item.Default).Names() {
		limit, request := m.limits[name], m.requests[name]
		c := request.Cmp(limit)
		if limit.Cmp(item.Default[name]) != 0 || c == 0 || c < 0 && !extended(name) {
			continue
		}
		o.add(Violation{
			Rule: RuleRange, When: Never, Kind: "LimitRange", Namespace: r.Namespace, Name: r.Name,
			Resource: string(name), Asked: job.InBaseUnits(name, request), Hard: job.InBaseUnits(name, limit), Path: path.Key(string(name)),
			Role: g.Name, At: g.Pod.At(m.at.Child("requests").Key(string(name))),
			Message: fmt.Sprintf("%s requests %s %s; the limit that is filled in is %s", m.who, shown(name, request), name, shown(name, limit)),
		})
	}
}

// breach is how an amount breaks a bound.
type breach struct {
	text        string
	field       string // requests or limits, where the amount is written; empty: nowhere
	asked, hard int64
}

// shown is an amount as people write it; devices are counted in whole numbers, never as 2k.
func shown(name corev1.ResourceName, q resource.Quantity) string {
	if extended(name) {
		return job.Format(name, job.InBaseUnits(name, q))
	}
	return q.String()
}

func (m measured) breach(name corev1.ResourceName, field string, has, bound resource.Quantity, word string) (breach, bool) {
	singular := map[string]string{"requests": "requests", "limits": "has a limit of"}[field]
	return breach{
		text:  fmt.Sprintf("%s %s %s; the %s is %s", singular, shown(name, has), name, word, shown(name, bound)),
		field: field, asked: job.InBaseUnits(name, has), hard: job.InBaseUnits(name, bound),
	}, true
}

// above: both the limit, which must be there, and the request are at most the bound.
func (m measured) above(name corev1.ResourceName, bound resource.Quantity) (breach, bool) {
	request, asks := m.requests[name]
	limit, limited := m.limits[name]
	switch {
	case m.claim && !asks:
		return breach{text: fmt.Sprintf("asks for no %s; the maximum is %s", name, shown(name, bound)), hard: job.InBaseUnits(name, bound)}, true
	case m.claim:
		limited = true
	}
	switch {
	case !limited:
		return breach{text: fmt.Sprintf("has no limit of %s; the maximum is %s", name, shown(name, bound)), hard: job.InBaseUnits(name, bound)}, true
	case limit.Cmp(bound) > 0:
		return m.breach(name, "limits", limit, bound, "maximum")
	case asks && request.Cmp(bound) > 0:
		return m.breach(name, "requests", request, bound, "maximum")
	}
	return breach{}, false
}

// below: the request, which must be there, and the limit, if there is one, are at least
// the bound.
func (m measured) below(name corev1.ResourceName, bound resource.Quantity) (breach, bool) {
	request, asks := m.requests[name]
	limit, limited := m.limits[name]
	switch {
	case !asks:
		return breach{text: fmt.Sprintf("requests no %s; the minimum is %s", name, shown(name, bound)), hard: job.InBaseUnits(name, bound)}, true
	case request.Cmp(bound) < 0:
		return m.breach(name, "requests", request, bound, "minimum")
	case limited && limit.Cmp(bound) < 0:
		return m.breach(name, "limits", limit, bound, "minimum")
	}
	return breach{}, false
}

// ratio: the limit is at most so many times the request; both must be there and not 0.
// The arithmetic is the API server's, in floating point.
func (m measured) ratio(name corev1.ResourceName, bound resource.Quantity) (breach, bool) {
	request, limit := m.requests[name], m.limits[name]
	if request.Sign() == 0 || limit.Sign() == 0 {
		return breach{text: fmt.Sprintf("needs a request and a limit of %s; the limit may be %s times the request", name, ratioText(bound))}, true
	}
	asks, has := request.Value(), limit.Value()
	if asks <= resource.MaxMilliValue && has <= resource.MaxMilliValue {
		asks, has = request.MilliValue(), limit.MilliValue()
	}
	is, most := float64(has)/float64(asks), float64(bound.Value())
	if bound.Value() <= resource.MaxMilliValue {
		is, most = is*1000, float64(bound.MilliValue())
	}
	if is <= most {
		return breach{}, false
	}
	return breach{
		text:  fmt.Sprintf("has a limit of %s %s and requests %s; the limit may be %s times the request", shown(name, limit), name, shown(name, request), ratioText(bound)),
		field: "limits", asked: job.InBaseUnits(name, limit), hard: ratioOf(job.InBaseUnits(name, request), bound),
	}, true
}

// ratioOf is so many times an amount, rounded down: the largest limit that is allowed.
func ratioOf(n int64, ratio resource.Quantity) int64 {
	if ratio.Value() > resource.MaxMilliValue || n > resource.MaxMilliValue/max(1, ratio.Value()) {
		return saturate.Mul(n, ratio.Value())
	}
	return saturate.Mul(n, ratio.MilliValue()) / 1000
}

// ratioText is a ratio as people write one: 1.5, not 1500m.
func ratioText(ratio resource.Quantity) string {
	return strconv.FormatFloat(ratio.AsApproximateFloat64(), 'f', -1, 64)
}
