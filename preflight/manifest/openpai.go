package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// A job file of OpenPAI (protocolVersion 2) is read as the Framework that OpenPAI's rest-server makes of
// it, as far as the file decides: roles, resources, /dev/shm, storages, commands with their parameters
// filled in, completion and retries. What the server adds to every job alike — its init container and mounts, the
// label of its nodes, the FUSE device, the host's network — is the platform's, and left out.
//
// Sources: github.com/microsoft/pai src/rest-server/src/config/v2/protocol.js (the schema),
// …/middlewares/v2/protocol.js (references and rendering), …/models/v2/job/k8s.js (the Framework).

// origin says where in the user's file a part of the object was written.
type origin struct{ made, written job.Path }

// isProtocol recognises OpenPAI's own form of a job.
func isProtocol(fields map[string]any) bool {
	return fields["apiVersion"] == nil && fields["kind"] == nil && fields["protocolVersion"] != nil
}

// protocol hands on the Framework of a job file, or what OpenPAI would refuse it for.
func (d *reading) protocol(node *yaml.Node, base int, fields map[string]any) bool {
	at := Document{Source: d.source, Line: base + node.Line, node: node, base: base}
	p := &protocol{fields: fields, place: at.Position, roles: keysOf(node, fields)}
	framework := p.framework()
	if len(p.problems) > 0 {
		for _, problem := range p.problems {
			problem.Source = d.source
			if !d.fail(problem) {
				return false
			}
		}
		return true
	}
	at.Object, at.origins, at.remarks = &unstructured.Unstructured{Object: framework}, p.origins, p.remarks
	return d.yield(at, nil)
}

// OpenPAI says that the object was made of a job file of OpenPAI's own form.
func (d Document) OpenPAI() bool { return d.origins != nil }

// Remarks are what OpenPAI does with parts of a job file that its author may not expect, each with its place.
func (d Document) Remarks() (out []string) {
	for _, r := range d.remarks {
		out = append(out, fmt.Sprintf("%s:%d: %s %s", d.Source, d.Position(r.at), r.at, r.text))
	}
	return out
}

// Written is the path in the user's file of what stands at a path of the object: of the nearest part
// that was written, where the object was made of another form; else the path itself.
func (d Document) Written(path job.Path) job.Path {
	if first, _, _ := strings.Cut(string(path), "."); d.origins == nil || d.Object.Object[first] == nil {
		return path
	}
	path = byIndex(path, d.Object.Object)
	for path != "" {
		for _, o := range d.origins {
			if o.made == path {
				return o.written
			}
		}
		path = path.Parent()
	}
	return ""
}

// InItsWords is what is said of the object in the words of the user's file, where the object was made of another
// form. path is where it is said, as the object has it.
func (d Document) InItsWords(path job.Path, text string) string {
	if d.origins == nil {
		return text
	}
	retries := "jobRetryCount"
	if strings.Contains(string(path), "taskRoles") {
		retries = "taskRetryCount"
	}
	return strings.NewReplacer(
		"minFailedTaskCount", "minFailedInstances", "minSucceededTaskCount", "minSucceededInstances", "a taskNumber", "instances", "taskNumber", "instances",
		"maxRetryCount", retries, "fancyRetryPolicy retries", "OpenPAI retries", "the Framework", "the job",
	).Replace(text)
}

// byIndex spells elements of lists by their position.
func byIndex(path job.Path, object map[string]any) job.Path {
	var out job.Path
	for _, step := range steps(path) {
		name, named := strings.CutPrefix(string(step), "[name=")
		if !named {
			out = out.Join(step)
			continue
		}
		name = strings.Trim(strings.TrimSuffix(name, "]"), `"`)
		list, _ := out.Resolve(object)
		elements, _ := list.([]any)
		i := slices.IndexFunc(elements, func(e any) bool { m, _ := e.(map[string]any); return m["name"] == name })
		if i < 0 {
			return out
		}
		out = out.Index(i)
	}
	return out
}

// keysOf are the task roles in the order of the file, which is that of the Framework's.
func keysOf(node *yaml.Node, fields map[string]any) []string {
	roles, _ := fields["taskRoles"].(map[string]any)
	var out []string
	if _, at := entry(follow(node), "taskRoles"); at != nil {
		at = follow(at)
		for i := 0; i+1 < len(at.Content); i += 2 {
			if name := at.Content[i].Value; roles[name] != nil && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(roles)) { // those that came by a merge
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// protocol is one job file being read.
type protocol struct {
	fields   map[string]any
	roles    []string
	place    func(job.Path) int
	problems []*Problem
	origins  []origin
	remarks  []remark
}

// remark is what the rest-server does with a part of the file that its author may not expect.
type remark struct {
	at   job.Path
	text string
}

func (p *protocol) wrong(at job.Path, have, want string) {
	p.problems = append(p.problems, &Problem{Line: p.place(at), Have: string(at) + " " + have, Want: want})
}

func (p *protocol) from(made, written job.Path) { p.origins = append(p.origins, origin{made, written}) }

// What the schema takes: names, and the fields of the file and of a task role. Newer versions than the
// schema that was read have more, which the documentation of the protocol names.
var (
	protocolName   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	roleName       = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	protocolFields = []string{
		"protocolVersion", "name", "type", "version", "contributor", "description", "prerequisites", "parameters", "secrets",
		"jobRetryCount", "taskRoles", "deployments", "defaults", "extras",
	}
	roleFields = []string{
		"protocolVersion", "instances", "completion", "taskRetryCount", "dockerImage", "data", "output", "script",
		"extraContainerOptions", "resourcePerInstance", "commands", "prerequisites",
	}
)

// convertName is how the rest-server names what the user calls otherwise.
func convertName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

func (p *protocol) framework() map[string]any {
	p.known("", p.fields, protocolFields)
	if v := fmt.Sprint(p.fields["protocolVersion"]); v != "2" {
		p.wrong("protocolVersion", "is "+written(p.fields["protocolVersion"]), "2")
	}
	name, _ := p.fields["name"].(string)
	if !protocolName.MatchString(name) {
		p.wrong("name", "is "+written(p.fields["name"]), "letters, digits, - and _")
	}
	if p.fields["type"] != "job" {
		p.wrong("type", "is "+written(p.fields["type"]), "job")
	}
	prerequisites := p.prerequisites()
	p.hived()
	p.deploymentsOnce()
	if len(p.roles) == 0 {
		p.wrong("taskRoles", "is "+written(p.fields["taskRoles"]), "at least one task role")
	}
	roles := []any{}
	for i, role := range p.roles {
		if made := p.role(i, role, prerequisites); made != nil {
			roles = append(roles, made)
		}
	}
	retries := p.number(p.fields, "", "jobRetryCount", 0, 0)
	p.from("metadata.name", "name")
	p.from("spec.retryPolicy", "jobRetryCount")
	p.from("spec.taskRoles", "taskRoles")
	return map[string]any{
		"apiVersion": "frameworkcontroller.microsoft.com/v1", "kind": "Framework",
		"metadata": map[string]any{
			"name": convertName(name), "labels": map[string]any{"jobName": name},
			"annotations": map[string]any{"config": p.masked()},
		},
		"spec": map[string]any{
			"executionType": "Start",
			"retryPolicy":   map[string]any{"fancyRetryPolicy": true, "maxRetryCount": retries},
			"taskRoles":     roles,
		},
	}
}

// known refuses fields that the protocol does not have: the rest-server does.
func (p *protocol) known(at job.Path, fields map[string]any, names []string) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(names, name) {
			p.wrong(at.Child(name), "is no field of the protocol", "one of "+strings.Join(names, ", "))
		}
	}
}

// prerequisites are the images and other things that task roles name, by type and name.
func (p *protocol) prerequisites() map[[2]string]map[string]any {
	out := map[[2]string]map[string]any{}
	list, _ := p.fields["prerequisites"].([]any)
	for i, v := range list {
		at := job.Path("prerequisites").Index(i)
		one, _ := v.(map[string]any)
		kind, _ := one["type"].(string)
		name, _ := one["name"].(string)
		switch key := [2]string{kind, name}; {
		case !slices.Contains([]string{"dockerimage", "data", "output", "script"}, kind):
			p.wrong(at.Child("type"), "is "+written(one["type"]), "dockerimage, data, output or script")
		case name == "":
			p.wrong(at.Child("name"), "is "+written(one["name"]), "a name")
		case out[key] != nil:
			p.wrong(at.Child("name"), fmt.Sprintf("is %q, as that of another %s is", name, kind), "a name of its own")
		case kind == "dockerimage" && !isText(one["uri"]):
			p.wrong(at.Child("uri"), "is "+written(one["uri"]), "the image's name")
		default:
			out[key] = one
		}
		p.auth(at.Child("auth"), one)
	}
	return out
}

// auth refuses the login of an image that names a secret which the file does not have: the rest-server
// fills it in when it makes the pull secret
// (github.com/microsoft/pai a95d9420 src/rest-server/src/models/v2/job/k8s.js, getDockerSecretDef).
func (p *protocol) auth(at job.Path, prerequisite map[string]any) {
	login, _ := prerequisite["auth"].(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(login)) {
		text, _ := login[field].(string)
		for _, tag := range placeholderTag.FindAllStringSubmatch(text, -1) {
			if lookUp(map[string]any{"$secrets": p.fields["secrets"]}, tag[1]) == nil {
				p.wrong(at.Child(field), fmt.Sprintf("names %s, which the file does not have", tag[1]), "the name of one of secrets")
			}
		}
	}
}

func isText(v any) bool {
	s, ok := v.(string)
	return ok && s != ""
}

// role is a task role of the Framework; nil where it cannot be read.
func (p *protocol) role(i int, name string, prerequisites map[[2]string]map[string]any) map[string]any {
	at := job.Path("taskRoles").Key(name)
	role, ok := p.fields["taskRoles"].(map[string]any)[name].(map[string]any)
	if !ok || !roleName.MatchString(name) {
		p.wrong(at, "is no task role", "an object under a name of letters, digits and _")
		return nil
	}
	p.known(at, role, roleFields)
	for _, field := range []string{"dockerImage", "data", "output", "script"} {
		kind := strings.ToLower(field)
		named, written := role[field].(string)
		if field == "dockerImage" && !written {
			p.wrong(at.Child(field), "is missing", "the name of a prerequisite of type dockerimage")
		} else if written && prerequisites[[2]string{kind, named}] == nil {
			p.wrong(at.Child(field), fmt.Sprintf("is %q, and no prerequisite of type %s has that name", named, kind), "one of prerequisites"+names(prerequisites, kind))
		}
	}
	image, _ := role["dockerImage"].(string)
	uri, _ := prerequisites[[2]string{"dockerimage", image}]["uri"].(string)
	instances := p.number(role, at, "instances", 1, 1)
	completion, _ := role["completion"].(map[string]any)
	p.known(at.Child("completion"), completion, []string{"minFailedInstances", "minSucceededInstances"})
	made := job.Path("spec.taskRoles").Index(i)
	p.from(made, at)
	for part, field := range map[job.Path]string{
		"name": "", "taskNumber": "instances", "frameworkAttemptCompletionPolicy": "completion", "task.retryPolicy": "taskRetryCount",
		"frameworkAttemptCompletionPolicy.minFailedTaskCount": "completion.minFailedInstances", "frameworkAttemptCompletionPolicy.minSucceededTaskCount": "completion.minSucceededInstances",
		"task.pod.spec.containers[0].image": "dockerImage", "task.pod.spec.containers[0].command": "commands",
		"task.pod.spec.containers[0].resources": "resourcePerInstance", "task.pod.spec.volumes": "extraContainerOptions",
	} {
		p.from(made.Join(part), at.Join(job.Path(field)))
	}
	mounts, volumes := p.storages(made.Join("task.pod.spec"))
	task := map[string]any{"retryPolicy": p.taskRetries(role, at), "podGracefulDeletionTimeoutSec": int64(1800)}
	task["pod"] = map[string]any{
		"metadata": map[string]any{},
		"spec": map[string]any{
			"restartPolicy": "Never",
			"containers": []any{map[string]any{
				"name": "app", "image": uri, "command": p.command(name, role, at, made, prerequisites), "resources": p.resources(role, at, made),
				"volumeMounts": append([]any{map[string]any{"name": "dshm", "mountPath": "/dev/shm"}}, mounts...),
			}},
			"volumes": append([]any{map[string]any{"name": "dshm", "emptyDir": map[string]any{"medium": "Memory", "sizeLimit": p.shm(role, at)}}}, volumes...),
		},
	}
	return map[string]any{ // of counts the rest-server takes 0 for not written
		"name": convertName(name), "taskNumber": instances, "task": task,
		"frameworkAttemptCompletionPolicy": map[string]any{
			"minFailedTaskCount":    cmp.Or(p.number(completion, at.Child("completion"), "minFailedInstances", 1, -1), 1),
			"minSucceededTaskCount": cmp.Or(p.number(completion, at.Child("completion"), "minSucceededInstances", instances, -1), instances),
		},
	}
}

// names are those of the prerequisites of a kind, to choose from.
func names(prerequisites map[[2]string]map[string]any, kind string) string {
	var all []string
	for key := range prerequisites {
		if key[0] == kind {
			all = append(all, key[1])
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return ": " + strings.Join(all[:min(4, len(all))], ", ")
}

// taskRetries are those of single tasks, which only count where a job does not start as one gang.
func (p *protocol) taskRetries(role map[string]any, at job.Path) map[string]any {
	n := p.number(role, at, "taskRetryCount", 0, -2)
	extras, _ := p.fields["extras"].(map[string]any)
	if gang, written := extras["gangAllocation"].(bool); !written || gang {
		if n != 0 {
			p.remarks = append(p.remarks, remark{at.Child("taskRetryCount"), "has no effect: the tasks of a job start as one gang, and are tried again together, as long as extras.gangAllocation is not false"})
		}
		return map[string]any{"fancyRetryPolicy": false, "maxRetryCount": int64(0)}
	}
	return map[string]any{"fancyRetryPolicy": true, "maxRetryCount": n}
}

// shm is the size of /dev/shm; the rest-server's default is 512 MiB.
func (p *protocol) shm(role map[string]any, at job.Path) string {
	options, _ := role["extraContainerOptions"].(map[string]any)
	return fmt.Sprintf("%dMi", cmp.Or(p.number(options, at.Child("extraContainerOptions"), "shmMB", 512, 0), 512))
}

// resources are the limits of a task; what is not limited is asked for as well.
func (p *protocol) resources(role map[string]any, at, made job.Path) map[string]any {
	at = at.Child("resourcePerInstance")
	each, ok := role["resourcePerInstance"].(map[string]any)
	if !ok {
		p.wrong(at, "is "+written(role["resourcePerInstance"]), "cpu, memoryMB and gpu")
		return nil
	}
	p.known(at, each, []string{"cpu", "memoryMB", "gpu", "ports"})
	limits := map[string]any{}
	for _, one := range []struct{ field, resource, unit string }{{"cpu", "cpu", ""}, {"memoryMB", "memory", "Mi"}, {"gpu", "nvidia.com/gpu", ""}} {
		if each[one.field] == nil {
			p.wrong(at.Child(one.field), "is missing", "a number")
			continue
		}
		limits[one.resource] = fmt.Sprintf("%d%s", p.number(each, at, one.field, 0, 0), one.unit)
		p.from(made.Child("task", "pod", "spec", "containers").Index(0).Child("resources", "limits").Key(one.resource), at.Child(one.field))
	}
	options, _ := role["extraContainerOptions"].(map[string]any)
	if on, _ := options["infiniband"].(bool); on {
		limits["rdma/hca"] = "1"
		p.from(made.Child("task", "pod", "spec", "containers").Index(0).Child("resources", "limits").Key("rdma/hca"), at.Parent().Child("extraContainerOptions", "infiniband"))
	}
	return map[string]any{"limits": limits}
}

// number is a whole number of a field, or a default where it is not written.
func (p *protocol) number(in map[string]any, at job.Path, field string, otherwise, least int64) int64 {
	var n int64
	switch v := in[field].(type) {
	case nil:
		return otherwise
	case int64:
		n = v
	case json.Number:
		i, err := v.Int64()
		if err != nil {
			p.wrong(at.Child(field), "is "+written(v), "a whole number")
			return otherwise
		}
		n = i
	default:
		p.wrong(at.Child(field), "is "+written(v), "a whole number")
		return otherwise
	}
	if n < least {
		p.wrong(at.Child(field), fmt.Sprintf("is %d", n), fmt.Sprintf("%d or more", least))
	}
	return n
}

// deploymentsOnce refuses two deployments of one name.
func (p *protocol) deploymentsOnce() {
	list, _ := p.fields["deployments"].([]any)
	seen := map[any]bool{}
	for i, v := range list {
		one, _ := v.(map[string]any)
		if name, ok := one["name"].(string); ok && seen[name] {
			p.wrong(job.Path("deployments").Index(i).Child("name"), fmt.Sprintf("is %q, as that of another deployment is", name), "a name of its own")
		} else if ok {
			seen[name] = true
		}
	}
}
