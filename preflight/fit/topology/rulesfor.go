package topology

// rulesFor are the rules that a pod set has to do with, by their numbers.
type rulesFor struct {
	antiAffinity, affinity, spread []int
	counting                       []int // spread rules that count its pods, or that it holds
	stepsPerLook                   int   // what it costs to ask whether one of its pods may go to a node
}

// sortRules gives each pod set the rules that it has to do with.
func (w *RuleSet) sortRules() {
	w.about = make([]rulesFor, len(w.podSets))
	against := w.against()
	for at := range w.antiAffinity {
		r := &w.antiAffinity[at]
		for i := range r.holders.with(r.with).all() {
			if own := against[r.top][i]; r.holders.has(i) || own == nil || !own.holds(r.holders) {
				w.about[i].antiAffinity = append(w.about[i].antiAffinity, at)
			}
		}
	}
	for at := range w.affinity {
		for i := range w.affinity[at].holders.all() {
			w.about[i].affinity = append(w.about[i].affinity, at)
		}
	}
	for at := range w.spread {
		for i := range w.spread[at].holders.all() {
			w.about[i].spread = append(w.about[i].spread, at)
		}
		for i := range w.spread[at].holders.with(w.spread[at].counted).all() {
			w.about[i].counting = append(w.about[i].counting, at)
		}
	}
	for i := range w.about {
		r := &w.about[i]
		r.stepsPerLook = 1 + (len(r.antiAffinity)+len(r.affinity)+len(r.spread)+len(w.sharedVolumes)+len(w.attachLimits))/2
	}
}

// against are the pod sets that the rules of a pod set keep it from, by topology, then pod set (nil: none): of rules that
// hold both ways it is enough to ask one.
func (w *RuleSet) against() [][]podSetSet {
	out := make([][]podSetSet, len(w.topologies))
	for at := range w.antiAffinity {
		r := &w.antiAffinity[at]
		if out[r.top] == nil {
			out[r.top] = make([]podSetSet, len(w.podSets))
		}
		for i := range r.holders.all() {
			if out[r.top][i] == nil {
				out[r.top][i] = w.set()
			}
			out[r.top][i].join(r.with)
		}
	}
	return out
}

// others are the pods of with in a domain, by counters.
func (r *antiAffinityRule) others(in [][]int32, d int32) int32 {
	if r.there < 0 {
		return in[r.both][d] - in[r.held][d]
	}
	return in[r.there][d]
}
