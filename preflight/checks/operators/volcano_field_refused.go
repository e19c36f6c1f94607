package operators

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// Source: volcano ed72c7c8 pkg/webhooks/admission/jobs/validate, validateJobCreate, validatePolicies, validateIO, topoSort
// (https://github.com/volcano-sh/volcano/blob/master/pkg/webhooks/admission/jobs/validate).
var volcanoFieldRefused = &check.Check{
	Name:     "volcano-field-refused",
	Title:    "a field of the Volcano Job is one that its webhook refuses",
	Remedy:   "Write what Volcano takes.",
	Severity: finding.Error, Refuses: true, Since: "0.2",
	Kinds: []string{"Job.batch.volcano.sh"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		for _, at := range []job.Path{p.Operator.TTL, "spec.maxRetry", "spec.networkTopology.highestTierAllowed"} {
			if n, ok := facts.Number(p.Job, at); ok && n < 0 {
				p.Reportf(at, "%s is %d; it takes 0 or more", facts.LastStep(at), n)
			}
		}
		if n, ok := facts.Number(p.Job, "spec.minSuccess"); ok && n < 1 {
			p.Reportf("spec.minSuccess", "minSuccess is %d; it takes 1 or more", n)
		}
		refusedVolumes(p)
		refusedPolicies(p, "spec.policies")
		for r := range p.Job.EachRole() {
			refusedPolicies(p, r.Path.Child("policies"))
		}
		refusedOrder(p)
		refusedMaster(p)
		refusedPlugins(p)
	},
}

// refusedVolumes: a volume of the job is a claim that there is or one that is made. That each has a place of its own is name-twice.
func refusedVolumes(p *check.Pass) {
	const list = job.Path("spec.volumes")
	all, _ := p.Job.Field(list).([]any)
	for i := range all {
		at := list.Index(i)
		where, made := facts.TextAt(p.Job, at.Child("mountPath")), p.Job.Field(at.Child("volumeClaim")) != nil
		name := facts.TextAt(p.Job, at.Child("volumeClaimName"))
		switch {
		case where == "":
			p.Reportf(at, "volume %d of the job has no mountPath", i)
		case !made && name == "":
			p.Reportf(at, "volume %d of the job names no claim in volumeClaimName and describes none to make in volumeClaim", i)
		case made && name != "":
			p.Reportf(at.Child("volumeClaimName"), "volume %d of the job names the claim %q and describes one to make in volumeClaim: it takes one of the two", i, name)
		}
	}
}

// refusedPolicies: a policy answers events or an exit code, and each of them has one answer.
func refusedPolicies(p *check.Pass, list job.Path) {
	all, _ := p.Job.Field(list).([]any)
	answered := map[string]int{}
	for i := range all {
		at := list.Index(i)
		events := eventsOf(p.Job, at)
		code, coded := facts.Number(p.Job, at.Child("exitCode"))
		switch {
		case len(events) == 0 && !coded:
			p.Reportf(at, "policy %d says neither which event nor which exitCode it answers", i)
		case len(events) > 0 && coded:
			p.Reportf(at.Child("exitCode"), "policy %d answers an event and exit code %d: it takes one of the two", i, code)
		case coded && code == 0:
			p.Reportf(at.Child("exitCode"), "policy %d answers exit code 0, which is no failure", i)
		case coded:
			events = []string{"exit code " + saturate.Text(code)}
		}
		if text := facts.TextAt(p.Job, at.Child("timeout")); text != "" {
			if _, err := time.ParseDuration(text); err != nil {
				p.Reportf(at.Child("timeout"), "timeout of policy %d is %s; it takes a duration such as 5m or 1h30m", i, facts.Quoted(text))
			}
		}
		for _, event := range events {
			if before, twice := answered[event]; twice && before != i {
				p.Reportf(at, "policies %d and %d both answer %s", before, i, event)
				break
			}
			answered[event] = i
		}
	}
}

func eventsOf(j *job.Job, at job.Path) []string {
	var out []string
	if one := facts.TextAt(j, at.Child("event")); one != "" {
		out = append(out, one)
	}
	for _, e := range j.Elements(at.Child("events")) {
		if name, ok := e.(string); ok {
			out = append(out, name)
		}
	}
	return out
}

// refusedOrder: tasks that wait for each other, or for one that there is not, have no order.
func refusedOrder(p *check.Pass) {
	waits := map[string][]string{}
	for r := range p.Job.EachRole() {
		for _, n := range p.Job.Elements(r.Path.Child("dependsOn", "name")) {
			if name, ok := n.(string); ok {
				waits[r.Name] = append(waits[r.Name], name)
			}
		}
	}
	done, left := map[string]bool{}, len(p.Job.Roles)
	for before := -1; before != left; {
		before = left
		for r := range p.Job.EachRole() {
			name := r.Name
			if done[name] || !allIn(done, waits[name]) {
				continue
			}
			done[name] = true
			left--
		}
	}
	for r := range p.Job.EachRole() {
		if done[r.Name] {
			continue
		}
		at := r.Path.Child("dependsOn", "name")
		for k, name := range waits[r.Name] {
			switch {
			case p.Job.Role(name) == nil:
				p.Reportf(at.Index(k), "%s depends on %q, which is no task of the job%s", r.Name, name, check.DidYouMean(name, facts.RoleNames(p.Job)))
			case !done[name] && waitsFor(waits, name, r.Name):
				p.Reportf(at.Index(k), "%s depends on %s, which depends on %s: neither can start first", r.Name, name, r.Name)
			}
		}
	}
}

func allIn(done map[string]bool, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !done[name] })
}

// waitsFor says whether a task depends on another, at once or through others.
func waitsFor(waits map[string][]string, name, other string) bool {
	seen, next := map[string]bool{}, []string{name}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		if at == other {
			return true
		}
		if !seen[at] {
			seen[at] = true
			next = append(next, waits[at]...)
		}
	}
	return false
}

// refusedMaster: the plugin mpi has to find the task that calls mpirun, which is called master unless an argument says
// otherwise (pkg/controllers/job/plugins/distributed-framework/mpi/mpi.go; arguments are those of Go's package flag).
func refusedMaster(p *check.Pass) {
	const at, argument = job.Path("spec.plugins.mpi"), "--master"
	plugins, _ := p.Job.Field("spec.plugins").(map[string]any)
	written, on := plugins["mpi"]
	if !on {
		return
	}
	task := strings.TrimLeft(argument, "-")
	words, _ := written.([]any)
	for i, w := range words {
		word, _ := w.(string)
		flag, value, joined := strings.Cut(word, "=")
		if "--"+strings.TrimLeft(flag, "-") != argument || !strings.HasPrefix(flag, "-") {
			continue
		}
		if !joined && i+1 < len(words) {
			value, _ = words[i+1].(string)
		}
		task = value
	}
	if p.Job.Role(task) == nil {
		p.Reportf(at, "the plugin mpi looks for a task called %q, and the job has none%s", task, check.DidYouMean(task, facts.RoleNames(p.Job)))
	}
}

// volcanoPlugins: volcano ed72c7c8 pkg/controllers/job/plugins/factory.go.
var volcanoPlugins = []string{"env", "hcclrank", "mpi", "pytorch", "ray", "ssh", "svc", "tensorflow"}

// refusedPlugins: a plugin is one that Volcano has, in its spelling.
func refusedPlugins(p *check.Pass) {
	const at = job.Path("spec.plugins")
	plugins, _ := p.Job.Field(at).(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(plugins)) {
		if !slices.Contains(volcanoPlugins, name) {
			p.Reportf(at.Key(name), "Volcano has no plugin %s%s", facts.Quoted(name), check.DidYouMean(name, volcanoPlugins))
		}
	}
}
