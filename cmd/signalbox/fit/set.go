package fit

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/setting"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// variant is a job with some of its numbers changed, and its answer.
type variant struct {
	review.Reviewed
	set   map[string]string // Worker.replicas: 3
	gpu   int64             // devices of all pods
	notes []string          // what else the change asks for, or spoils
}

// label is what was changed, as the flag says it: "Worker.replicas=3, Worker.gpus=4".
func (v variant) label(settings []setting.Setting) string {
	var parts []string
	for _, s := range settings {
		parts = append(parts, s.Key()+"="+v.set[s.Key()])
	}
	return strings.Join(parts, ", ")
}

// variants asks the fit about a job with all combinations of the settings.
func variants(ctx context.Context, w *review.World, r *preflight.Reviewer, d manifest.Document, settings []setting.Setting) ([]variant, error) {
	combinations := []map[string]string{{}}
	for _, s := range settings {
		var next []map[string]string
		for _, c := range combinations {
			for _, v := range s.Values {
				with := maps.Clone(c)
				with[s.Key()] = v
				next = append(next, with)
			}
		}
		combinations = next
	}
	var out []variant
	for _, c := range combinations {
		req, err := w.Request(ctx, d)
		if err != nil {
			return nil, err
		}
		var notes []string
		for _, s := range settings {
			note, err := s.Apply(req, w.Cluster, c[s.Key()])
			if err != nil {
				return nil, &manifest.Problem{Source: d.Source, Line: d.Line, Have: fmt.Sprintf("--set %s=%s: %s", s.Key(), c[s.Key()], err)}
			}
			if note != "" {
				notes = append(notes, note)
			}
		}
		answer, err := w.One(ctx, r, d, req)
		if err != nil {
			return nil, err
		}
		sayRefused(ctx, w, *answer, req.Object)
		sayDropped(ctx, w, *answer, req.Object)
		v := variant{Reviewed: *answer, set: c, notes: notes}
		for _, f := range answer.Findings {
			if f.Severity == finding.Error { // what the change makes of the job cannot be read whole
				v.notes = append(v.notes, fmt.Sprintf("%s: %s", f.Path, f.Message))
			}
		}
		if j := review.ReadJob(req.Object, w.Cluster); j != nil {
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
	return fmt.Sprintf("the gang waits for %d members, and the job has %s", g.MinMembers, terminal.Count(most, "pod"))
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
func nextBest(all []variant, settings []setting.Setting) string {
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
func variantNotes(all []variant, settings []setting.Setting) (out []string) {
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
func variantTable(p terminal.Page, all []variant, settings []setting.Setting, paint terminal.Painter) string {
	head := []string{}
	for _, s := range settings {
		head = append(head, strings.ToUpper(s.Key()))
	}
	rows := [][]string{append(head, "DEVICES", "ANSWER", "")}
	best := largest(all)
	for i, v := range all {
		var row []string
		for _, s := range settings {
			row = append(row, v.set[s.Key()])
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
		rows = append(rows, append(row, fmt.Sprint(v.gpu), paint.Word(answer), words.VisibleLine(says)))
	}
	text := p.Table(rows)
	below := variantNotes(all, settings)
	if next := nextBest(all, settings); next != "" {
		below = append(below, next)
	}
	for i, line := range below {
		below[i] = words.VisibleLine(line) + "\n"
	}
	if len(below) > 0 {
		text += "\n" + strings.Join(below, "")
	}
	return text
}
