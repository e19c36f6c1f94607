// Package setting changes sizes of a job: what --set asks about, and where a size is written. Start reading at Read.
package setting

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// Setting is one --set: what of a role gets which values. Without a role it is about the job: its replicas, or the
// amounts of every role that asks for them.
type Setting struct {
	Role, Field string
	Values      []string
}

// Key is how a setting is written before the equals sign.
func (s Setting) Key() string {
	if s.Role == "" {
		return s.Field
	}
	return s.Role + "." + s.Field
}

var setFields = []string{"replicas", "gpus", "cpu", "memory"}

// Read reads [ROLE.]FIELD=VALUE[,VALUE…]. For ROLE.FIELD may stand the path that an answer names: spec.replicas.
func Read(texts []string) ([]Setting, error) {
	var out []Setting
	variants := 1
	for _, text := range texts {
		key, values, ok := strings.Cut(text, "=")
		role, field := "", key
		if dot := strings.LastIndexByte(key, '.'); dot >= 0 {
			role, field = key[:dot], key[dot+1:]
		}
		if !ok || key == "" || strings.HasPrefix(key, ".") || values == "" {
			return nil, shell.Usagef("--set %s: expected ROLE.FIELD=VALUE or FIELD=VALUE, for example Worker.replicas=3 or gpus=4,8", text)
		}
		path := role == "spec" || strings.HasPrefix(role, "spec.")
		if !path && !slices.Contains(setFields, field) {
			return nil, shell.Usagef("--set %s: no field is called %q; expected %s%s", text, field, terminal.OrList(setFields), check.DidYouMean(field, setFields))
		}
		s := Setting{Role: role, Field: field, Values: strings.Split(values, ",")}
		for _, v := range s.Values {
			if _, err := s.amount(v); err != nil {
				if strings.Contains(v, "=") {
					return nil, shell.Usagef("--set %s: each field has a --set of its own: --set %s", text, strings.Replace(text, ","+v, " --set "+v, 1))
				}
				return nil, shell.Usagef("--set %s: %q is no amount; expected a number", text, v)
			}
		}
		variants = saturate.Mul(variants, len(s.Values))
		out = append(out, s)
	}
	if variants > mostVariants {
		return nil, shell.Usagef("--set makes %d variants; expected %d at most", variants, mostVariants)
	}
	return out, nil
}

// amount is a value as it is written in a manifest: whole numbers as such, others as text.
func (s Setting) amount(v string) (any, error) {
	if s.Field != "cpu" && s.Field != "memory" { // replicas, gpus, or what a path counts
		n, err := strconv.ParseInt(v, 10, 32)
		if err == nil && n < 0 {
			err = fmt.Errorf("%d is negative", n)
		}
		return n, err
	}
	q, err := quantity.ParseQuantity(v)
	return q.String(), err
}

// Apply writes a value into the job, where the job writes it; note says which number stands there, where it is another.
func (s Setting) Apply(req preflight.Request, view *cluster.Snapshot, v string) (note string, err error) {
	j := review.ReadJob(req.Object, view)
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
		note = fmt.Sprintf("%s is then %d, which counts %s of another role, too", places[0], value, terminal.Count(beside, "pod"))
	}
	for _, at := range places {
		if err := at.Replace(req.Object.Object, value); err != nil {
			return "", fmt.Errorf("%s is written nowhere", s.Key())
		}
	}
	return note, nil
}

// in is where a job writes what the setting is about; beside is as for places.
func (s Setting) in(j *job.Job) (out []job.Path, beside int, err error) {
	if s.Role == "" {
		out, err = s.ofJob(j)
		return out, 0, err
	}
	var names []string
	for i := range j.Roles {
		role := &j.Roles[i]
		if strings.EqualFold(role.Name, s.Role) {
			return s.Places(j, role)
		}
		names = append(names, role.Name)
	}
	if at := job.Path(s.Key()); slices.Contains(replicaPaths(j), at) {
		return []job.Path{at}, 0, nil
	}
	return nil, 0, fmt.Errorf("no role is called %q; expected %s%s", s.Role, terminal.OrList(names), check.DidYouMean(s.Role, names))
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
func (s Setting) ofJob(j *job.Job) (out []job.Path, err error) {
	if s.Field == "replicas" {
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
		return nil, fmt.Errorf("it has several; expected %s", terminal.OrList(keys))
	}
	for i := range j.Roles {
		var of []job.Path
		if of, _, err = s.Places(j, &j.Roles[i]); err == nil {
			out = append(out, of...)
		}
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) > 0 {
		return out, nil
	}
	return nil, err
}

// Places are the paths where a job writes the field of a role: an amount may be written in
// requests and in limits. beside is how many pods of other roles the number there counts, too.
func (s Setting) Places(j *job.Job, role *job.Role) (out []job.Path, beside int, err error) {
	if s.Field == "replicas" {
		for _, g := range gang.Of(j).Groups {
			if g.Name == role.Name && g.Path != "" {
				return []job.Path{g.Path}, g.Beside, nil
			}
		}
		return nil, 0, fmt.Errorf("the number of %s is written nowhere", role.Name)
	}
	name := corev1.ResourceName(s.Field)
	if s.Field == "gpus" {
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

// mostVariants bounds the questions of one --set.
const mostVariants = 20
