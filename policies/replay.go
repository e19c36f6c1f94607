package policies

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight"
)

// Replayed is what a set says to reviews that were recorded.
type Replayed struct {
	Reviews int       `json:"reviews"`
	Dry     int       `json:"dryRuns"`   // left out
	Denied  int       `json:"denied"`    // reviews that the set denies
	Before  int       `json:"wasDenied"` // of all, that were denied when they were asked
	Users   []Refused `json:"users"`     // by user, namespace and policy; the most refused first
	// Undecided are reviews of which a denying rule could say nothing, by its reason.
	Undecided map[string]int `json:"undecided,omitempty"`
	Problems  []string       `json:"problems,omitempty"` // lines that could not be read; 20 at most
	More      int            `json:"moreProblems,omitempty"`
}

// Refused is whom a policy would have denied.
type Refused struct {
	User      string   `json:"user"`
	Namespace string   `json:"namespace"`
	Policy    string   `json:"policy"`
	Reviews   int      `json:"reviews"`
	Jobs      []string `json:"jobs"` // Kind/name, 5 at most
	GPUs      int64    `json:"gpus"` // asked for, of all reviews together
	// GPUSeconds are what those of the jobs held that ended and of which that was recorded with a later
	// review; Unknown is how many others there are.
	GPUSeconds int64  `json:"gpuSeconds"`
	Unknown    int    `json:"unknown"`
	Says       string `json:"says"` // of the last of them
}

const (
	mostProblems    = 20
	mostRefusedJobs = 5
)

// Replay asks a set about reviews that were recorded, as if their namespaces had the mode; an empty mode
// leaves it as it was. decisions is read twice: a later review tells how long a job held its GPUs.
func Replay(ctx context.Context, set preflight.Policies, decisions iter.Seq2[Decision, error], mode string) (Replayed, error) {
	out := Replayed{Undecided: map[string]int{}}
	held := map[string][]preflight.RunFacts{} // by kind, namespace, name
	for d, err := range decisions {
		var in struct {
			Job     preflight.JobView      `json:"job"`
			Earlier preflight.EarlierFacts `json:"earlier"`
		}
		if err != nil || json.Unmarshal(d.Input, &in) != nil {
			continue
		}
		for _, run := range in.Earlier.Runs {
			key := in.Job.Kind + "/" + in.Job.Namespace + "/" + run.Name
			if !slices.Contains(held[key], run) {
				held[key] = append(held[key], run)
			}
		}
	}
	by := map[string]*Refused{}
	for d, err := range decisions {
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		var in preflight.Input
		if err == nil {
			if unread := json.Unmarshal(d.Input, &in); unread != nil {
				err = fmt.Errorf("read decision %s: %w", d.ID, unread)
			}
		}
		switch {
		case err != nil && len(out.Problems) >= mostProblems:
			out.More++
			continue
		case err != nil:
			out.Problems = append(out.Problems, err.Error())
			continue
		case in.Request.DryRun:
			out.Dry++
			continue
		}
		out.Reviews++
		if !d.Result.Allow {
			out.Before++
		}
		if mode != "" {
			in.Request.Mode = mode
		}
		ruled, err := bothStages(ctx, set, in, d.Custom.Lacks)
		if err != nil {
			return out, err
		}
		out.file(by, &d, &in, ruled, held)
	}
	for _, r := range by {
		out.Users = append(out.Users, *r)
	}
	slices.SortFunc(out.Users, func(a, b Refused) int {
		return cmp.Or(cmp.Compare(b.Reviews, a.Reviews), cmp.Compare(b.GPUs, a.GPUs), cmp.Compare(a.User, b.User), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Policy, b.Policy))
	})
	return out, nil
}

// bothStages asks the rules of both stages.
func bothStages(ctx context.Context, set preflight.Policies, in preflight.Input, lacks []preflight.Lack) (preflight.Ruled, error) {
	var out preflight.Ruled
	for _, stage := range []preflight.Stage{preflight.OnTheJob, preflight.OnTheReview} {
		ruled, err := set.Decide(ctx, in, preflight.Question{Stage: stage, Lacks: lacks, Before: annotatedOnly(in)})
		if err != nil {
			return out, err
		}
		out.Rulings, out.Undecided = append(out.Rulings, ruled.Rulings...), append(out.Undecided, ruled.Undecided...)
	}
	return out, nil
}

// annotatedOnly is the input before a change of annotations alone; nil: it is about another change.
func annotatedOnly(in preflight.Input) *preflight.Input {
	old, now := in.Old.Written, in.Object.Written
	if old == nil || now == nil || !preflight.SameWork(old, now) || maps.Equal(old.GetAnnotations(), now.GetAnnotations()) {
		return nil
	}
	in.Object, in.Job.Annotations = in.Old, old.GetAnnotations()
	return &in
}

// file adds what was said to one review.
func (out *Replayed) file(by map[string]*Refused, d *Decision, in *preflight.Input, ruled preflight.Ruled, held map[string][]preflight.RunFacts) {
	for _, why := range ruled.Undecided {
		out.Undecided[why]++
	}
	counted := map[string]bool{}
	for _, r := range ruled.Rulings {
		if r.Effect != preflight.Deny {
			continue
		}
		key := in.Request.User + "\x00" + in.Job.Namespace + "\x00" + r.Policy
		of := by[key]
		if of == nil {
			of = &Refused{User: in.Request.User, Namespace: in.Job.Namespace, Policy: r.Policy}
			by[key] = of
		}
		of.Says = r.Message
		if counted[key] { // one review, however many sentences
			continue
		}
		counted[key] = true
		of.Reviews++
		of.GPUs += in.Job.GPUs
		name := in.Job.Kind + "/" + in.Job.Name
		if !slices.Contains(of.Jobs, name) && len(of.Jobs) < mostRefusedJobs {
			of.Jobs = append(of.Jobs, name)
		}
		if seconds, known := heldBy(held[in.Job.Kind+"/"+in.Job.Namespace+"/"+in.Job.Name], d); known {
			of.GPUSeconds += seconds
		} else {
			of.Unknown++
		}
	}
	if len(counted) > 0 {
		out.Denied++
	}
}

// heldBy is what the first run that ended after a review held.
func heldBy(runs []preflight.RunFacts, d *Decision) (int64, bool) {
	at := d.Timestamp.UTC().Format("2006-01-02T15:04:05Z")
	var first *preflight.RunFacts
	for i := range runs {
		if strings.Compare(runs[i].Ended, at) >= 0 && (first == nil || runs[i].Ended < first.Ended) {
			first = &runs[i]
		}
	}
	if first == nil || !first.GPUSecondsKnown {
		return 0, false
	}
	return first.GPUSeconds, true
}
