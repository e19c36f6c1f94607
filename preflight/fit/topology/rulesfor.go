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
	for at := range w.antiAffinity {
		for i := range w.antiAffinity[at].holders.with(w.antiAffinity[at].with).all() {
			w.about[i].antiAffinity = append(w.about[i].antiAffinity, at)
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
