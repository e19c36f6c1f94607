package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// mostVariants bounds the questions of one --set.
const mostVariants = 20

// setting is one --set: what of a role gets which values. Without a role it is about the job: its replicas, or the
// amounts of every role that asks for them.
type setting struct {
	role, field string
	values      []string
}

func (s setting) key() string {
	if s.role == "" {
		return s.field
	}
	return s.role + "." + s.field
}

var setFields = []string{"replicas", "gpus", "cpu", "memory"}

// readSettings reads [ROLE.]FIELD=VALUE[,VALUE…]. For ROLE.FIELD may stand the path that an answer names: spec.replicas.
func readSettings(texts []string) ([]setting, error) {
	var out []setting
	variants := 1
	for _, text := range texts {
		key, values, ok := strings.Cut(text, "=")
		role, field := "", key
		if dot := strings.LastIndexByte(key, '.'); dot >= 0 {
			role, field = key[:dot], key[dot+1:]
		}
		if !ok || key == "" || strings.HasPrefix(key, ".") || values == "" {
			return nil, usagef("--set %s: expected ROLE.FIELD=VALUE or FIELD=VALUE, for example Worker.replicas=3 or gpus=4,8", text)
		}
		path := role == "spec" || strings.HasPrefix(role, "spec.")
		if !path && !slices.Contains(setFields, field) {
			return nil, usagef("--set %s: no field is called %q%s; expected %s", text, field, check.DidYouMean(field, setFields), orList(setFields))
		}
		s := setting{role: role, field: field, values: strings.Split(values, ",")}
		for _, v := range s.values {
			if _, err := s.amount(v); err != nil {
				if strings.Contains(v, "=") {
					return nil, usagef("--set %s: each field has a --set of its own: --set %s", text, strings.Replace(text, ","+v, " --set "+v, 1))
				}
				return nil, usagef("--set %s: %q is no amount; expected a number", text, v)
			}
		}
		variants = saturate.Mul(variants, len(s.values))
		out = append(out, s)
	}
	if variants > mostVariants {
		return nil, usagef("--set makes %d variants; expected %d at most", variants, mostVariants)
	}
	return out, nil
}

// amount is a value as it is written in a manifest: whole numbers as such, others as text.
func (s setting) amount(v string) (any, error) {
	if s.field != "cpu" && s.field != "memory" { // replicas, gpus, or what a path counts
		n, err := strconv.ParseInt(v, 10, 32)
		if err == nil && n < 0 {
			err = fmt.Errorf("%d is negative", n)
		}
		return n, err
	}
	q, err := quantity.ParseQuantity(v)
	return q.String(), err
}

// variant is a job with some of its numbers changed, and its answer.
type variant struct {
	reviewed
	set   map[string]string // Worker.replicas: 3
	gpu   int64             // devices of all pods
	notes []string          // what else the change asks for, or spoils
}

// label is what was changed, as the flag says it: "Worker.replicas=3, Worker.gpus=4".
func (v variant) label(settings []setting) string {
	var parts []string
	for _, s := range settings {
		parts = append(parts, s.key()+"="+v.set[s.key()])
	}
	return strings.Join(parts, ", ")
}

// variants asks the fit about a job with all combinations of the settings.
func (w *world) variants(ctx context.Context, r *preflight.Reviewer, d manifest.Document, settings []setting) ([]variant, error) {
	combinations := []map[string]string{{}}
	for _, s := range settings {
		var next []map[string]string
		for _, c := range combinations {
			for _, v := range s.values {
				with := maps.Clone(c)
				with[s.key()] = v
				next = append(next, with)
			}
		}
		combinations = next
	}
	var out []variant
	for _, c := range combinations {
		req, err := w.request(ctx, d)
		if err != nil {
			return nil, err
		}
		var notes []string
		for _, s := range settings {
			note, err := s.apply(req, w.cluster, c[s.key()])
			if err != nil {
				return nil, &manifest.Problem{Source: d.Source, Line: d.Line, Have: fmt.Sprintf("--set %s=%s: %s", s.key(), c[s.key()], err), Want: "what the job writes"}
			}
			if note != "" {
				notes = append(notes, note)
			}
		}
		answer, err := w.one(ctx, r, d, req)
		if err != nil {
			return nil, err
		}
		w.sayRefused(ctx, *answer, req.Object)
		w.sayDropped(ctx, *answer, req.Object)
		v := variant{reviewed: *answer, set: c, notes: notes}
		for _, f := range answer.Findings {
			if f.Severity == finding.Error { // what the change makes of the job cannot be read whole
				v.notes = append(v.notes, fmt.Sprintf("%s: %s", f.Path, f.Message))
			}
		}
		if j := readJob(req.Object, w.cluster); j != nil {
			if note := waitsForMore(j); note != "" && len(v.notes) == len(notes) {
				v.notes = append(v.notes, note)
			}
			for i := range j.Roles {
				v.gpu = saturate.Add(v.gpu, saturate.Mul(j.Roles[i].Pod.GPUs().N, int64(j.Roles[i].Replicas.Max)))
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// waitsForMore says that a job waits for more members than it has pods; empty: it does not.
func waitsForMore(j *job.Job) string {
	g := gang.Of(j)
	most := j.MaxPods()
	switch {
	case g.MinMembers <= most || most == 0:
		return ""
	case g.MinField != "":
		return fmt.Sprintf("%s is %d, so the job waits for pods that it does not have; it then has to be %d", g.MinField, g.MinMembers, most)
	}
	return fmt.Sprintf("the gang waits for %d members, and the job has %s", g.MinMembers, count(most, "pod"))
}

// apply writes a value into the job, where the job writes it; note says which number stands there, where it is another.
func (s setting) apply(req preflight.Request, view *cluster.Snapshot, v string) (note string, err error) {
	j := readJob(req.Object, view)
	if j == nil {
		return "", fmt.Errorf("the job cannot be read")
	}
	value, err := s.amount(v)
	if err != nil {
		return "", err
	}
	places, beside, err := s.in(j)
	if err != nil {
		return "", err
	}
	if n, ok := value.(int64); ok && beside > 0 {
		value = n + int64(beside)
		note = fmt.Sprintf("%s is then %d, which counts %s of another role, too", places[0], value, count(beside, "pod"))
	}
	for _, at := range places {
		if err := at.Replace(req.Object.Object, value); err != nil {
			return "", fmt.Errorf("%s is written nowhere", s.key())
		}
	}
	return note, nil
}

// in is where a job writes what the setting is about; beside is as for places.
func (s setting) in(j *job.Job) (out []job.Path, beside int, err error) {
	if s.role == "" {
		out, err = s.ofJob(j)
		return out, 0, err
	}
	var names []string
	for i := range j.Roles {
		role := &j.Roles[i]
		if strings.EqualFold(role.Name, s.role) {
			return s.places(j, role)
		}
		names = append(names, role.Name)
	}
	if at := job.Path(s.key()); slices.Contains(replicaPaths(j), at) {
		return []job.Path{at}, 0, nil
	}
	return nil, 0, fmt.Errorf("no role is called %q%s; there is %s", s.role, check.DidYouMean(s.role, names), orList(names))
}

// replicaPaths are where a job writes how many pods it has, each once.
func replicaPaths(j *job.Job) (out []job.Path) {
	for _, g := range gang.Of(j).Groups {
		if g.Path != "" && !slices.Contains(out, g.Path) {
			out = append(out, g.Path)
		}
	}
	return out
}

// ofJob are the places of a setting that names no role. A job that writes one number of replicas, or one of its own beside
// those within (a LeaderWorkerSet), means that one; kubectl scale does, too. Amounts are those of each role that asks for them.
func (s setting) ofJob(j *job.Job) (out []job.Path, err error) {
	if s.field == "replicas" {
		const own = job.Path("spec.replicas")
		all := replicaPaths(j)
		if slices.Contains(all, own) {
			return []job.Path{own}, nil
		}
		if len(all) == 1 {
			return all, nil
		}
		var keys []string
		for _, g := range gang.Of(j).Groups {
			if g.Path != "" {
				keys = append(keys, g.Name+".replicas")
			}
		}
		if len(keys) == 0 {
			return nil, fmt.Errorf("the number of pods is written nowhere")
		}
		return nil, fmt.Errorf("it has several; there is %s", orList(keys))
	}
	for i := range j.Roles {
		var of []job.Path
		if of, _, err = s.places(j, &j.Roles[i]); err == nil {
			out = append(out, of...)
		}
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) > 0 {
		return out, nil
	}
	return nil, err
}

// places are the paths where a job writes the field of a role: an amount may be written in
// requests and in limits. beside is how many pods of other roles the number there counts, too.
func (s setting) places(j *job.Job, role *job.Role) (out []job.Path, beside int, err error) {
	if s.field == "replicas" {
		for _, g := range gang.Of(j).Groups {
			if g.Name == role.Name && g.Path != "" {
				return []job.Path{g.Path}, g.Beside, nil
			}
		}
		return nil, 0, fmt.Errorf("the number of %s is written nowhere", role.Name)
	}
	name := corev1.ResourceName(s.field)
	if s.field == "gpus" {
		if name = role.Pod.GPUs().Resource; name == "" {
			return nil, 0, fmt.Errorf("%s asks for no device", role.Name)
		}
	}
	for i, c := range role.Pod.Spec.Containers {
		at := job.Path("containers").Index(i).Child("resources")
		if _, ok := c.Resources.Limits[name]; ok {
			out = append(out, role.Pod.At(at.Child("limits").Key(string(name))))
		}
		if _, ok := c.Resources.Requests[name]; ok {
			out = append(out, role.Pod.At(at.Child("requests").Key(string(name))))
		}
		if len(out) > 0 {
			break // sidecars keep theirs
		}
	}
	if len(out) == 0 {
		return nil, 0, fmt.Errorf("%s asks for no %s", role.Name, name)
	}
	return out, 0, nil
}

// largest is the variant with most devices of those that fit now; -1: none does.
func largest(all []variant) int {
	best := -1
	for i, v := range all {
		if v.Fit != nil && v.Fit.Verdict == fit.Fits && !v.Fit.Held() && (best < 0 || v.gpu > all[best].gpu) {
			best = i
		}
	}
	return best
}

// nextBest is what would fit where no variant does: the change for the one that asks for the fewest devices.
func nextBest(all []variant, settings []setting) string {
	best := -1
	for i, v := range all {
		if v.Fit != nil && v.Fit.Change != "" && (best < 0 || v.gpu < all[best].gpu) {
			best = i
		}
	}
	if largest(all) >= 0 || best < 0 {
		return ""
	}
	return fmt.Sprintf("none of these fits now; %s %s", all[best].label(settings), all[best].Fit.Change)
}

// variantNotes are what variants ask for besides, those that ask for the same in one line.
func variantNotes(all []variant, settings []setting) (out []string) {
	of := map[string][]string{}
	var order []string
	for _, v := range all {
		for _, note := range v.notes {
			if of[note] == nil {
				order = append(order, note)
			}
			of[note] = append(of[note], v.label(settings))
		}
	}
	for _, note := range order {
		if who := of[note]; len(who) < len(all) || len(all) == 1 {
			note = strings.Join(who, "; ") + ": " + note
		}
		out = append(out, note)
	}
	return out
}

// variantTable is the answers below each other; the largest that fits now is marked.
func variantTable(p page, all []variant, settings []setting, paint painter) string {
	head := []string{}
	for _, s := range settings {
		head = append(head, strings.ToUpper(s.key()))
	}
	rows := [][]string{append(head, "DEVICES", "ANSWER", "")}
	best := largest(all)
	for i, v := range all {
		var row []string
		for _, s := range settings {
			row = append(row, v.set[s.key()])
		}
		answer, says := "not asked", ""
		if v.Fit != nil {
			answer, says = v.Fit.Answer(), v.Fit.Headline()
			if v.Fit.Verdict != fit.Fits || v.Fit.Held() {
				says = v.Fit.String()
			}
		}
		if i == best {
			says += " ← the largest that fits now"
		}
		rows = append(rows, append(row, fmt.Sprint(v.gpu), paint.word(answer), visibleLine(says)))
	}
	text := p.table(rows)
	below := variantNotes(all, settings)
	if next := nextBest(all, settings); next != "" {
		below = append(below, next)
	}
	for i, line := range below {
		below[i] = visibleLine(line) + "\n"
	}
	if len(below) > 0 {
		text += "\n" + strings.Join(below, "")
	}
	return text
}
