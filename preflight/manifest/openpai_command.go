package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// placeholderTag is a parameter in a command: <% $parameters.lr %>.
var (
	placeholderTag = regexp.MustCompile(`<%\s*([^%]*?)\s*%>`)
	position       = regexp.MustCompile(`\[(\d+)\]`)
)

// command is what a task runs: its commands and those of the deployment around them, one a line, with
// parameters filled in; the runtime hands them to a bash that stops at the first that fails and at a
// variable that is not set. A tag whose name is not there stays as it is, as the rest-server leaves it;
// a secret's name is filled in by the runtime, and its value stays out of the answer.
//
// Sources: github.com/microsoft/pai a95d9420 src/rest-server/src/middlewares/v2/protocol.js (render),
// github.com/microsoft/openpai-runtime 59ec6d17 src/runtime.d/user.sh, src/init.d/user_command_renderer.py.
func (p *protocol) command(name string, role map[string]any, at, made job.Path, prerequisites map[[2]string]map[string]any) []any {
	lines, places := p.lines(role, at, "commands", true)
	if deployment, where := p.deployment(); deployment != nil {
		roles, _ := deployment["taskRoles"].(map[string]any)
		around, _ := roles[name].(map[string]any)
		where = where.Child("taskRoles").Key(name)
		p.known(where, around, []string{"preCommands", "postCommands"})
		before, beforeAt := p.lines(around, where, "preCommands", false)
		after, afterAt := p.lines(around, where, "postCommands", false)
		lines, places = slices.Concat(before, lines, after), slices.Concat(beforeAt, places, afterAt)
	}
	known := map[string]any{"$parameters": p.fields["parameters"]}
	for _, kind := range []string{"data", "output", "script"} {
		named, _ := role[kind].(string)
		known["$"+kind] = prerequisites[[2]string{kind, named}]
	}
	script := made.Join("task.pod.spec.containers[0].command[2]")
	for i, line := range lines {
		lines[i] = placeholderTag.ReplaceAllStringFunc(line, func(tag string) string {
			name := placeholderTag.FindStringSubmatch(tag)[1]
			if v := lookUp(known, name); v != nil {
				return inText(v)
			}
			if lookUp(map[string]any{"$secrets": p.fields["secrets"]}, name) != nil {
				return "SECRET"
			}
			if !slices.ContainsFunc(p.origins, func(o origin) bool { return o.made == script }) {
				p.from(script, places[i]) // what is said of it is said of the line that has it
			}
			return "<% " + name + " %>"
		})
	}
	return []any{"bash", "-euc", strings.TrimSpace(strings.Join(lines, "\n"))}
}

// lookUp is the value that a tag names: a position in a list is written [1] or .1; nil: there is none.
func lookUp(in any, name string) any {
	for step := range strings.SplitSeq(position.ReplaceAllString(name, ".$1"), ".") {
		switch at := in.(type) {
		case map[string]any:
			in = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			in = at[i]
		default:
			return nil
		}
	}
	return in
}

// inText is how JavaScript writes a value into a text.
func inText(v any) string {
	switch v := v.(type) {
	case []any:
		var all []string
		for _, e := range v {
			if e == nil {
				e = ""
			}
			all = append(all, inText(e))
		}
		return strings.Join(all, ",")
	case map[string]any:
		return "[object Object]"
	}
	return fmt.Sprint(v)
}

// lines are the commands of a field and where each of them is written.
func (p *protocol) lines(in map[string]any, at job.Path, field string, required bool) (out []string, places []job.Path) {
	list, ok := in[field].([]any)
	if required && (!ok || len(list) == 0) {
		p.wrong(at.Child(field), "is "+written(in[field]), "at least one command")
	}
	for i, v := range list {
		place := at.Child(field).Index(i)
		text, ok := v.(string)
		if !ok {
			p.wrong(place, "is "+written(v), "a command as text")
			continue
		}
		out, places = append(out, strings.TrimSpace(text)), append(places, place)
	}
	return out, places
}

// masked is the file as the rest-server keeps it on the Framework: without the values of its secrets.
func (p *protocol) masked() string {
	fields := maps.Clone(p.fields)
	if secrets, ok := fields["secrets"].(map[string]any); ok {
		hidden := map[string]any{}
		for name := range secrets {
			hidden[name] = "******"
		}
		fields["secrets"] = hidden
	}
	text, err := json.Marshal(fields) // which is YAML, too
	if err != nil {
		return ""
	}
	return string(text)
}

// storages are the claims that a job mounts into every task: the rest-server names a claim as the storage.
func (p *protocol) storages(pod job.Path) (mounts, volumes []any) {
	extras, _ := p.fields["extras"].(map[string]any)
	list, _ := extras["storages"].([]any)
	for i, v := range list {
		one, _ := v.(map[string]any)
		name, _ := one["name"].(string)
		if name == "" {
			continue // the rest-server passes over it
		}
		path, _ := one["mountPath"].(string)
		path = cmp.Or(path, "/mnt/"+name)
		claim := map[string]any{"claimName": name}
		if readOnly, _ := one["readOnly"].(bool); readOnly {
			claim["readOnly"] = true
		}
		mounts = append(mounts, map[string]any{"name": name + "-volume", "mountPath": path})
		volumes = append(volumes, map[string]any{"name": name + "-volume", "persistentVolumeClaim": claim})
		at := job.Path("extras.storages").Index(i)
		p.from(pod.Child("volumes").Index(len(volumes)), at) // the first is /dev/shm
		p.from(pod.Child("containers").Index(0).Child("volumeMounts").Index(len(mounts)), at)
	}
	return mounts, volumes
}

// deployment is the one that defaults names, and where it is written; nil: none.
func (p *protocol) deployment() (map[string]any, job.Path) {
	defaults, _ := p.fields["defaults"].(map[string]any)
	name, ok := defaults["deployment"].(string)
	if !ok {
		return nil, ""
	}
	list, _ := p.fields["deployments"].([]any)
	for i, v := range list {
		if one, _ := v.(map[string]any); one["name"] == name {
			return one, job.Path("deployments").Index(i)
		}
	}
	if !slices.ContainsFunc(p.problems, func(q *Problem) bool { return strings.HasPrefix(q.Have, "defaults.deployment ") }) {
		p.wrong("defaults.deployment", fmt.Sprintf("is %q, and no deployment has that name", name), "one of deployments")
	}
	return nil, ""
}
