package checks

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// eachVariable visits the variables of all containers of all roles; at is where one is written.
func eachVariable(j *job.Job, visit func(r *job.Role, c *corev1.Container, e *corev1.EnvVar, at job.Path)) {
	eachContainer(j, func(r *job.Role, c *corev1.Container, rel job.Path) {
		for n := range c.Env {
			visit(r, c, &c.Env[n], r.Pod.At(rel.Child("env").Index(n)))
		}
	})
}

// variable is the last variable of that name, which is the one that counts, and its
// position; nil where the container writes none.
func variable(c *corev1.Container, name string) (*corev1.EnvVar, int) {
	for i := len(c.Env) - 1; i >= 0; i-- {
		if c.Env[i].Name == name {
			return &c.Env[i], i
		}
	}
	return nil, -1
}

// sets says whether the container has one of the variables, or may have it from elsewhere:
// a ConfigMap, a Secret, or its own script.
func sets(c *corev1.Container, names ...string) bool {
	if len(c.EnvFrom) > 0 {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool {
		e, _ := variable(c, name)
		return e != nil || mentions(c, name)
	})
}

// mentions says whether command or arguments contain the text.
func mentions(c *corev1.Container, text string) bool {
	contains := func(word string) bool { return strings.Contains(word, text) }
	return slices.ContainsFunc(c.Command, contains) || slices.ContainsFunc(c.Args, contains)
}

// setByOperator are the variables that the operator appends to a container of the role,
// after the job's own: of two equal names the last wins.
func setByOperator(j *job.Job, r *job.Role, container int) []string {
	if env := kinds.Of(j.Ref).Env; env != nil {
		return env(j, r, container)
	}
	return nil
}

// literal is a variable's own value; ok is false where it comes from elsewhere or is a
// placeholder that somebody else fills.
func literal(e *corev1.EnvVar) (value string, ok bool) {
	_, _, templated := job.Placeholder(e.Value)
	return e.Value, e.ValueFrom == nil && !templated
}

// wholeNumber is a literal value that is a number, 0 or more.
func wholeNumber(e *corev1.EnvVar) (int64, bool) {
	value, ok := literal(e)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32)
	return n, err == nil && n >= 0
}
