package fix

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/setting"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// remedies are the changes that would cure a finding exactly, if they do.
func (f *fixer) remedies(r review.Reviewed, found finding.Finding) (out [][]edit) {
	at := found.Path
	switch {
	case found.Meant == "":
	case found.Named:
		if beside, _ := r.From.Spots(at.Parent().Key(found.Meant)); beside.Line > 0 {
			break // a name that is there already is not written twice
		}
		edits := []edit{{at: at, with: found.Meant, key: true}}
		if list, name, ok := resourceAt(at); ok {
			if key, _ := r.From.Spots(twinOf(at, list, name)); key.Line > 0 {
				edits = append(edits, edit{at: twinOf(at, list, name), with: found.Meant, key: true})
			}
		}
		out = append(out, edits)
	default:
		out = append(out, []edit{{at: at, with: found.Meant}}, []edit{{at: at.Child("name"), with: found.Meant}}, []edit{{at: at, with: found.Meant, key: true}})
	}
	_, spot := r.From.Spots(at)
	out = append(out, sameNumber(at, spot.Word, found.Facts)...)
	if list, name, ok := resourceAt(at); ok {
		twin := twinOf(at, list, name)
		if _, v := r.From.Spots(twin); v.Word != "" {
			out = append(out, []edit{{at: twin, with: spot.Word}}, []edit{{at: at, with: v.Word}})
		}
	}
	if found.Check == "container-name-missing" {
		if j := review.ReadJob(r.From.Object, f.w.Cluster); j != nil {
			for i := range j.Roles {
				if role := &j.Roles[i]; role.Pod.At("containers") == at && len(role.Pod.Spec.Containers) == 1 {
					out = append(out, []edit{{at: at.Index(0).Child("name"), with: role.Container}})
				}
			}
		}
	}
	return out
}

// sameNumber replaces a number of a finding's facts by another, where it is the word at a path or ends it, as in
// --nnodes=4.
func sameNumber(at job.Path, word string, facts []finding.Fact) (out [][]edit) {
	for _, was := range facts {
		for _, is := range facts {
			a, isNumber := was.Value.(int64)
			b, other := is.Value.(int64)
			before, ends := strings.CutSuffix(word, strconv.FormatInt(a, 10))
			if isNumber && other && a != b && b > 0 && ends && // nothing of what was asked for is no remedy
				(before == "" || strings.HasSuffix(before, "=")) {
				out = append(out, []edit{{at: at, with: before + strconv.FormatInt(b, 10)}})
			}
		}
	}
	return out
}

// resourceAt says whether a path is that of an amount under requests or limits.
func resourceAt(at job.Path) (list, name string, ok bool) {
	above := string(at.Parent())
	for _, list := range []string{"requests", "limits"} {
		if strings.HasSuffix(above, "resources."+list) {
			last := strings.TrimPrefix(string(at), above)
			if word, err := strconv.Unquote(strings.TrimSuffix(strings.TrimPrefix(last, "["), "]")); err == nil {
				return list, word, true
			}
			return list, strings.TrimPrefix(last, "."), true
		}
	}
	return "", "", false
}

// twinOf is where the other of requests and limits has the same resource.
func twinOf(at job.Path, list, name string) job.Path {
	other := map[string]string{"requests": "limits", "limits": "requests"}[list]
	return at.Parent().Parent().Child(other).Key(name)
}

// numbers are the changes of numbers that the fit found, as the job writes them.
func (f *fixer) numbers(r review.Reviewed) (out [][]edit) {
	j := review.ReadJob(r.From.Object, f.w.Cluster)
	if j == nil || r.Fit == nil {
		return nil
	}
	was := gang.Of(j)
	for _, groups := range r.Fit.Numbers {
		edits, pods := []edit{}, 0
		for i, g := range groups {
			if i >= len(was.Groups) || i >= len(j.Roles) || was.Groups[i].Name != g.Name {
				return nil
			}
			pods += g.Count
			if n, _ := was.Groups[i].Number(g.Count); g.Count != was.Groups[i].Count {
				edits = append(edits, edit{at: was.Groups[i].Path, with: strconv.Itoa(n)})
			}
			edits = append(edits, amounts(j, &j.Roles[i], g)...)
		}
		if j.Gang.Path != "" && j.Gang.MinMembers > pods {
			edits = append(edits, edit{at: j.Gang.Path, with: strconv.Itoa(pods)})
		}
		if len(edits) > 0 {
			out = append(out, edits)
		}
	}
	return out
}

// amounts are the edits after which one pod of a role asks for what a group does, where one container asks.
func amounts(j *job.Job, role *job.Role, g fit.Group) (out []edit) {
	asked := job.Resources{}
	for _, c := range role.Pod.Spec.Containers {
		for name := range c.Resources.Requests {
			asked[name] += job.InBaseUnits(name, c.Resources.Requests[name])
		}
		for name := range c.Resources.Limits {
			if _, ok := c.Resources.Requests[name]; !ok {
				asked[name] += job.InBaseUnits(name, c.Resources.Limits[name])
			}
		}
	}
	for _, name := range asked.Names() {
		n, ok := g.Requests[name]
		if !ok || n >= asked[name] {
			continue
		}
		text := strconv.FormatInt(n, 10)
		switch name {
		case corev1.ResourceCPU:
			text = quantity.NewMilliQuantity(n, quantity.DecimalSI).String()
		case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
			text = quantity.NewQuantity(n, quantity.BinarySI).String()
		default:
		}
		places, _, err := setting.Setting{Role: role.Name, Field: string(name)}.Places(j, role)
		if err != nil {
			continue
		}
		for _, at := range places {
			out = append(out, edit{at: at, with: text})
		}
	}
	return out
}
