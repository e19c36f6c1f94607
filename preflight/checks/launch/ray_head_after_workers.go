package launch

import (
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var rayHeadAfterWorkers = &check.Check{
	Name:     "ray-head-after-workers",
	Title:    "workers of Ray start before the head that they join",
	Remedy:   "Let the head start first, and the workers join it by its name.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		heads, joins := map[string]rayStart{}, []rayStart{}
		for r := range p.Job.EachRole() {
			head, join := rayStartsOf(p.Job, r)
			if head.at != "" && join.at != "" {
				continue // one script for both, and it decides by itself
			}
			if head.at != "" {
				heads[r.Name] = head
			}
			if join.at != "" {
				joins = append(joins, join)
			}
			// Where others are there, each head may have workers of its own, as in the groups of a set.
			alone := len(p.Job.Roles) == 1 && p.Operator.World != kinds.WorldUnknown
			if head.at != "" && alone && r.Replicas.Min > 1 && !choosesByItself(r) {
				p.Reportf(head.at, "ray start --head runs in all %s: that makes %d clusters of one node each", facts.PodsOf(r), r.Replicas.Min)
			}
		}
		for _, join := range joins {
			for _, name := range slices.Sorted(maps.Keys(heads)) {
				if order, waits := waitsFor(p.Job, name, join.role.Name); waits {
					p.Reportf(join.at, "%s join the Ray head in %s, which starts after %s: %s", facts.PodsOf(join.role), name, join.role.Name, order)
				}
			}
		}
	},
}

// rayStart is one call of ray start.
type rayStart struct {
	role *job.Role
	at   job.Path
}

// rayStartsOf are the calls of ray start in the container that trains: for a head, and to join
// one. The last of each counts.
func rayStartsOf(j *job.Job, r *job.Role) (head, join rayStart) {
	if !startsRay(r) {
		return head, join
	}
	for _, cmd := range facts.CommandsOf(j, r) {
		if len(cmd.Words) < 3 || cmd.Words[0] != "ray" || cmd.Words[1] != "start" {
			continue
		}
		for i, w := range cmd.Words[2:] {
			switch {
			case w == "--head":
				head = rayStart{r, cmd.At[i+2]}
			case strings.HasPrefix(w, "--address"):
				join = rayStart{r, cmd.At[i+2]}
			}
		}
	}
	return head, join
}

// startsRay says whether the container that trains may call ray start at all: reading a script
// word by word costs more.
func startsRay(r *job.Role) bool {
	c, _ := r.Trainer()
	return c != nil && facts.Mentions(c, "ray")
}

// choosesByItself says whether the script of a role looks at which pod it is before it starts.
func choosesByItself(r *job.Role) bool {
	c, _ := r.Trainer()
	return c == nil || facts.Mentions(c, "if ") || facts.Mentions(c, "case ") || facts.Mentions(c, "&&") || facts.Mentions(c, "||")
}

// waitsFor says whether one role starts only when the other is ready, and what says so.
func waitsFor(j *job.Job, later, earlier string) (by string, waits bool) {
	a, b := j.Role(later), j.Role(earlier)
	if a == nil || b == nil || a == b {
		return "", false
	}
	for _, d := range j.Elements(a.Path.Child("dependsOn")) {
		if d, _ := d.(map[string]any); d["name"] == earlier {
			return later + " depends on " + earlier, true
		}
	}
	if order, _ := facts.Text(j, "spec.startupPolicy.startupPolicyOrder"); order != "InOrder" {
		return "", false
	}
	first := slices.IndexFunc(j.Roles, func(r job.Role) bool { return r.Name == earlier || r.Name == later })
	return "startupPolicyOrder is InOrder and " + earlier + " stands first", j.Roles[first].Name == earlier
}
