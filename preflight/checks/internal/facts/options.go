package facts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Option is one setting of a command line: --num_workers 8, --num-workers=8 or
// data.num_workers=8.
type Option struct {
	Name  string   // in lower case, - for _, without what stands before a dot: num-workers
	Value string   // empty where the next word is another option
	At    job.Path // of the word
}

// OptionsOf are the settings on the command lines of a role's container that trains, in
// their order. What a shell would compute is in the values as it is written.
func OptionsOf(j *job.Job, r *job.Role) []Option {
	var out []Option
	for _, cmd := range CommandsOf(j, r) {
		for i, w := range cmd.Words {
			name, value, joined := strings.Cut(w, "=")
			dashed := strings.HasPrefix(name, "-")
			if !dashed && (!joined || !optionName(name)) {
				continue
			}
			if !joined && i+1 < len(cmd.Words) && !strings.HasPrefix(cmd.Words[i+1], "-") {
				value = cmd.Words[i+1]
			}
			name = strings.ReplaceAll(strings.ToLower(strings.TrimLeft(name, "-")), "_", "-")
			out = append(out, Option{Name: name[strings.LastIndexByte(name, '.')+1:], Value: value, At: cmd.At[i]})
		}
	}
	return out
}

// optionName says whether a word before = may name a setting: a plain word with or without dots.
func optionName(s string) bool {
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', i > 0 && (r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-'):
		case i == 0 && (r == '+' || r == '_'):
		default:
			return false
		}
	}
	return s != ""
}

// CommandsOf are the programs that train in a role, with absolute paths.
func CommandsOf(j *job.Job, r *job.Role) []kinds.Command {
	c, i := r.Trainer()
	if sshd := kinds.Of(j.Ref).SSHD; sshd.Replaces && r.Name == sshd.Role {
		return launchedCommand(j, sshd.Command)
	}
	if c == nil {
		return nil
	}
	all := kinds.Commands(c)
	rel := job.Path("containers").Index(i)
	for k := range all {
		at := make([]job.Path, len(all[k].At))
		for n, p := range all[k].At {
			at[n] = r.Pod.At(rel.Join(p))
		}
		all[k].At = at
	}
	return all
}

// launchedCommand is the command that the launcher starts on every worker.
func launchedCommand(j *job.Job, at job.Path) []kinds.Command {
	cmd := kinds.Command{}
	for where, w := range j.Elements(at) {
		if s, ok := w.(string); ok {
			cmd.Words, cmd.At = append(cmd.Words, s), append(cmd.At, where)
		}
	}
	if len(cmd.Words) == 0 {
		return nil
	}
	return []kinds.Command{cmd}
}

// Find is the last setting with one of the names: command lines are read from left to right.
func Find(options []Option, names ...string) (Option, bool) {
	for _, o := range slices.Backward(options) {
		if slices.Contains(names, o.Name) {
			return o, true
		}
	}
	return Option{}, false
}

// AtLeastOne is a value that is a plain number of 1 or more.
func AtLeastOne(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	return n, err == nil && n > 0
}

// SetsVariable says that a container's variable has a literal value.
func SetsVariable(c *corev1.Container, name string) bool {
	e, _ := Variable(c, name)
	return e != nil && e.ValueFrom == nil
}

// AcceleratorsOf is how many accelerators one container asks for, of whatever unit.
func AcceleratorsOf(c *corev1.Container) job.Amount {
	asked := job.ResourcesOf(c.Resources.Limits)
	for name, n := range job.ResourcesOf(c.Resources.Requests) {
		asked[name] = max(asked[name], n)
	}
	return job.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{*c}}, Requests: asked}.GPUs()
}

// LimitOf is the limit of a container for a resource, else the pod's; ok is false without one.
func LimitOf(spec *corev1.PodSpec, c *corev1.Container, name corev1.ResourceName) (who string, n int64, ok bool) {
	if q, limited := c.Resources.Limits[name]; limited {
		return "container " + c.Name, job.InBaseUnits(name, q), true
	}
	if spec.Resources != nil {
		if q, limited := spec.Resources.Limits[name]; limited {
			return "the pod", job.InBaseUnits(name, q), true
		}
	}
	return "", 0, false
}

// String is the option as people write it.
func (o Option) String() string {
	if o.Value == "" {
		return "--" + o.Name
	}
	return fmt.Sprintf("--%s %s", o.Name, o.Value)
}

// EachWord visits command and arguments of a container; at is relative to it.
func EachWord(c *corev1.Container, visit func(word string, at job.Path)) {
	for i, w := range c.Command {
		visit(w, job.Path("command").Index(i))
	}
	for i, w := range c.Args {
		visit(w, job.Path("args").Index(i))
	}
}
