package ground

import (
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A rank counts the processes of the whole job, an index the pods of one role: of a PyTorchJob with a master, worker 0 is rank 1. The platform
// knows the index, lines tell the rank. So what is said of a rank is held against a table of members, and an index is never read as a rank.

var (
	// ownRank is the rank of the process that writes a line: at its beginning, or in what a program says when it joins.
	ownRank = lazy.MustCompile(`^(?:[\d:,.TZ/-]+\s+){0,2}(?:[A-Z]{4,8}\s+)?\[rank(\d+)\]|\b(?:join|connect)\w* as rank (\d+) of \d+\b|\bgot new rank (\d+)\b`)
	// calledRank is how programs begin their own lines, and others lines about them.
	calledRank = lazy.MustCompile(`^(?:[\d:,.TZ/-]+\s+){0,2}(?:\[?[A-Z]{4,8}\]?:?\s+)?rank (\d+)\b`)
	// rankSaid is of whom the rules say it.
	rankSaid = lazy.MustCompile(`([a-z0-9][\w.-]*) \(rank (\d+)\b`)
)

// ranksOf are the ranks of pods: those that lines and the rules tell, and those of the other pods where all that are told count from one place.
// Of a pod with several processes it is none.
func ranksOf(s Shown, items []evidence.Item) map[string]string {
	told, called := map[string]string{}, map[string]string{}
	tell := func(out map[string]string, pod, rank string) {
		if out[pod] != "" && out[pod] != rank {
			rank = several
		}
		out[pod] = rank
	}
	for _, i := range items {
		pod := i.Source.Pod
		if m := ownRank.FindStringSubmatch(i.Text); m != nil && pod != "" {
			tell(told, pod, strings.Join(m[1:], ""))
		} else if i.Source.Role == "" && i.Source.Rank >= 0 && pod != "" {
			tell(told, pod, strconv.Itoa(i.Source.Rank))
		}
		if m := calledRank.FindStringSubmatch(i.Text); m != nil && pod != "" {
			tell(called, pod, m[1])
		}
	}
	for _, m := range rankSaid.FindAllStringSubmatch(s.Says, -1) {
		told[m[1]] = m[2]
	}
	of := map[string]int{}
	for _, rank := range called {
		of[rank]++
	}
	for pod, rank := range called {
		if told[pod] == "" && len(called) > 1 && of[rank] == 1 && rank != several {
			told[pod] = rank
		}
	}
	return inPlaces(s.Kind, items, told)
}

// place is where a pod stands in the job.
type place struct {
	role  string
	index int
}

// inPlaces adds the ranks of the pods of which no line tells one. Indexes of one role are ranks; behind a master, those of the workers begin at
// the number of masters, which the operator of PyTorchJobs does and a line of a worker may show:
// https://github.com/kubeflow/training-operator/blob/v1.8.1/pkg/controller.v1/pytorch/envvar.go
func inPlaces(kind string, items []evidence.Item, told map[string]string) map[string]string {
	places, masters, roles := map[string]place{}, 0, map[string]bool{}
	for _, i := range items {
		if at := (place{strings.ToLower(i.Source.Role), i.Source.Rank}); at.role != "" && at.index >= 0 && i.Source.Pod != "" {
			places[i.Source.Pod] = at
			roles[at.role] = true
			if at.role == "master" {
				masters = max(masters, at.index+1)
			}
		}
	}
	for pod, at := range places {
		if at.role == "launcher" {
			delete(told, pod) // the lines of all ranks are there
		}
	}
	rank := func(at place) string {
		if at.role == "master" {
			return strconv.Itoa(at.index)
		}
		return strconv.Itoa(at.index + masters)
	}
	shown := len(roles) == 1 || kind == "PyTorchJob"
	for pod, at := range places {
		switch {
		case told[pod] == "":
		case told[pod] != rank(at):
			return told // they are counted otherwise
		case at.role != "master":
			shown = true
		}
	}
	if shown && !roles["launcher"] {
		for pod, at := range places {
			if told[pod] == "" {
				told[pod] = rank(at)
			}
		}
	}
	return told
}

// rankOf is the rank of the process that wrote an item, as far as it is known.
func (g *grounds) rankOf(i evidence.Item) string {
	if m := ownRank.FindStringSubmatch(i.Text); m != nil {
		return strings.Join(m[1:], "")
	}
	if i.Source.Role == "" && i.Source.Rank >= 0 {
		return strconv.Itoa(i.Source.Rank)
	}
	if rank := g.ranks[i.Source.Pod]; rank != several {
		return rank
	}
	return ""
}
