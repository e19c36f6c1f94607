package facts

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Env is a variable of a container, and where it is written.
type Env struct {
	*corev1.EnvVar
	In *corev1.Container
	At job.Path
}

// EachVariable are the variables of all containers of all roles.
func EachVariable(j *job.Job) iter.Seq2[*job.Role, Env] {
	return func(yield func(*job.Role, Env) bool) {
		for r, c := range j.EachContainer() {
			for n := range c.Env {
				if !yield(r, Env{&c.Env[n], c.Container, r.Pod.At(c.Rel.Child("env").Index(n))}) {
					return
				}
			}
		}
	}
}

// Variable is the last variable of that name, which is the one that counts, and its
// position; nil where the container writes none.
func Variable(c *corev1.Container, name string) (*corev1.EnvVar, int) {
	for i := len(c.Env) - 1; i >= 0; i-- {
		if c.Env[i].Name == name {
			return &c.Env[i], i
		}
	}
	return nil, -1
}

// Sets says whether the container has one of the variables, or may have it from elsewhere:
// a ConfigMap, a Secret, or its own script.
func Sets(c *corev1.Container, names ...string) bool {
	if len(c.EnvFrom) > 0 {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool {
		e, _ := Variable(c, name)
		return e != nil || Mentions(c, name)
	})
}

// Mentions says whether command or arguments contain the text.
func Mentions(c *corev1.Container, text string) bool {
	contains := func(word string) bool { return strings.Contains(word, text) }
	return slices.ContainsFunc(c.Command, contains) || slices.ContainsFunc(c.Args, contains)
}

// SetByOperator are the variables that the operator appends to a container of the role,
// after the job's own: of two equal names the last wins.
func SetByOperator(j *job.Job, r *job.Role, container int) []string {
	if env := kinds.Of(j.Ref).Env; env != nil {
		return env(j, r, container)
	}
	return nil
}

// Literal is a variable's own value; ok is false where it comes from elsewhere or is a
// placeholder that something else fills.
func Literal(e *corev1.EnvVar) (value string, ok bool) {
	_, _, templated := job.Placeholder(e.Value)
	return e.Value, e.ValueFrom == nil && !templated
}

// WholeNumber is a literal value that is a number, 0 or more.
func WholeNumber(e *corev1.EnvVar) (int64, bool) {
	value, ok := Literal(e)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32)
	return n, err == nil && n >= 0
}

// Overwritten says whether the operator sets the variable over the job's own.
func Overwritten(j *job.Job, r *job.Role, c *corev1.Container, name string) bool {
	for k := range r.Pod.Spec.Containers {
		if &r.Pod.Spec.Containers[k] == c {
			return slices.Contains(SetByOperator(j, r, k), name)
		}
	}
	return false
}
