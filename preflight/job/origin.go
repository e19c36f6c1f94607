package job

// Origin says where in the source a part of a pod spec was written.
type Origin struct {
	Rel   Path // the part, relative to the pod spec: containers[0].resources
	Path  Path // where it is written
	Whole bool // there is no finer place: what lies below Rel is at Path too
}

// Origins are the origins of one pod. They are found by what they are of and not one after
// another: an author may override thousands of variables, and checks ask for each of them.
// The zero value has none. Nothing is added to the copy of a pod.
type Origins struct {
	list []Origin
	last map[Path]int // the latest origin of each part, by its place in the list
}

// OriginsOf are the origins in the order in which they were given.
func OriginsOf(origins ...Origin) Origins {
	var all Origins
	for _, o := range origins {
		all.Add(o)
	}
	return all
}

// Add adds an origin; it counts before an earlier one of the same part.
func (o *Origins) Add(origin Origin) {
	if o.last == nil {
		o.last = map[Path]int{}
	}
	o.last[origin.Rel] = len(o.list)
	o.list = append(o.list, origin)
}

// List is every origin, in the order in which they were added.
func (o *Origins) List() []Origin { return o.list }

// of is the origin of the smallest part that holds this one. It takes time as the steps of the path.
func (o *Origins) of(rel Path) (Origin, bool) {
	if len(o.list) == 0 {
		return Origin{}, false
	}
	best, found := o.last[""]
	for i := 0; i < len(rel); {
		_, end, err := rel.step(i)
		if err != nil {
			break
		}
		if k, ok := o.last[rel[:end]]; ok {
			best, found = k, true
		}
		i = end
	}
	if !found {
		return Origin{}, false
	}
	return o.list[best], true
}
