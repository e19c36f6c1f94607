//go:build ignore

// New writes the scaffold of a kind: its reader and a first fixture.
//
//	go run new.go -group ray.io -version v1 RayJob
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

var reader = template.Must(template.New("reader").Parse(`package kinds

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var {{.Variable}} = &Kind{
	Name:     "{{.Name}}",
	Resource: "{{.Plural}}",
	GVKs:     []schema.GroupVersionKind{{"{{"}}Group: "{{.Group}}", Version: "{{.Version}}", Kind: "{{.Name}}"{{"}}"}},
	Doc:      "What it reads, which defaults it applies, what success means, what it leaves out.",
	Runs: Told{
		English: "Who starts whom, whose end is the job's, and what is only a consequence when one member fails.",
		Chinese: "谁启动谁，任务的结果由谁决定，以及某个成员失败后哪些现象只是结果。",
	},
	Read:     reading("{{.Name}}", read{{.Name}}),
	Pods:     func(ref job.Ref) labels.Selector { return selector(requirement("{{.Group}}/job-name", ref.Name)) },
	Place:    placeIn{{.Name}},
	State:    {{.Variable}}State,
	Operator: Operator{ // what its controller does, each with its source: checks go by it and know no kind
		LongestName: lastPod,
		Peers:       PeersByService,
	},
}

// Source: where the types and the controller's defaults were read, with version.
type {{.Variable}}Spec struct {
	Workers  *int32                 ` + "`json:\"workers\"`" + `
	Template corev1.PodTemplateSpec ` + "`json:\"template\"`" + `
}

func read{{.Name}}(r *reader, j *job.Job, o *object[{{.Variable}}Spec]) {
	role := job.Role{
		Name: "worker", Path: "spec",
		Replicas:     job.Exactly(r.count("spec.workers", o.Spec.Workers, 1)),
		ReplicasPath: r.written("spec.workers", "spec"),
		Pod:          r.pod(&o.Spec.Template, "spec.template"),
	}
	settle(&role)
	j.Roles = []job.Role{role}
	gang(r, j)
}

func placeIn{{.Name}}(pod *corev1.Pod) (string, int, bool) {
	index, ok := atoi(pod.Labels["{{.Group}}/index"])
	return "worker", index, ok
}

func {{.Variable}}State(u *unstructured.Unstructured) State {
	s, _ := decide(conditions(u), []verdict{{"{{"}}"Failed", Failed}, {"Succeeded", Succeeded}, {"Running", Running{{"}}"}})
	return s
}
`))

var fixture = template.Must(template.New("fixture").Parse(`# What a user would write first. Then: one case per default of the controller, and one
# that is nasty. go test ./preflight/kinds -update writes what the reader says; read it.
apiVersion: {{.Group}}/{{.Version}}
kind: {{.Name}}
metadata: {name: minimal, namespace: ml}
spec:
  workers: 2
  template:
    spec:
      containers:
        - {name: main, image: "registry.example.com/train:1", resources: {limits: {nvidia.com/gpu: 8}}}
`))

// sample is a job of which no check has anything to say.
var sample = template.Must(template.New("sample").Parse(`# What the job does, in a sentence.
apiVersion: {{.Group}}/{{.Version}}
kind: {{.Name}}
metadata:
  name: sample-{{.Lower}}
spec:
  workers: 2
  template:
    spec:
      containers:
        - name: main
          image: registry.example.com/ml/train:1.0
          resources:
            requests: {cpu: "16", memory: 128Gi}
            limits: {cpu: "16", memory: 128Gi, nvidia.com/gpu: 8}
          volumeMounts:
            - {name: shm, mountPath: /dev/shm}
      volumes:
        - name: shm
          emptyDir: {medium: Memory, sizeLimit: 32Gi}
`))

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", ".", "where the package is")
	group := flag.String("group", "example.com", "the kind's API group")
	version := flag.String("version", "v1", "the version of the group that is read")
	flag.Parse()
	name := flag.Arg(0)
	if !regexp.MustCompile(`^[A-Z][A-Za-z0-9]+$`).MatchString(name) {
		log.Fatalf("new kind: the name is %q; expected one such as RayJob", name)
	}
	lower := strings.ToLower(name)
	data := map[string]string{"Name": name, "Group": *group, "Version": *version, "Lower": lower, "Plural": lower + "s", "Variable": strings.ToLower(name[:1]) + name[1:]}
	files := map[string]*template.Template{
		filepath.Join(*dir, lower+".go"):                       reader,
		filepath.Join(*dir, "testdata", lower, "minimal.yaml"): fixture,
	}
	if *dir == "." { // in its own folder: elsewhere there are no samples
		files[filepath.Join("..", "..", "config", "samples", lower+".yaml")] = sample
	}
	for file, t := range files {
		if err := write(file, t, data); err != nil {
			log.Fatalf("new kind: %v", err)
		}
		fmt.Println("wrote", file)
	}
	if *dir == "." {
		for _, at := range []string{".", filepath.Join("..", "..", "webhook")} { // the list; the webhook's rules and the rights
			generate := exec.Command("go", "generate", ".")
			generate.Dir = at
			if out, err := generate.CombinedOutput(); err != nil {
				log.Fatalf("new kind: go generate in %s: %v\n%s", at, err, out)
			}
		}
	}
	fmt.Println(`next: 1. fill in the reader, what its operator does, and the sample in config/samples
      2. go generate ./preflight/kinds ./webhook, where you change the group, a version or the plural: the list, the webhook's rules and the rights follow
      3. go test ./preflight/kinds ./webhook -update, and read what the reader says and which rights are new
      4. cmd/signalbox/states_test.go: what the job says of itself while it is suspended, resumed or cancelled
      5. make docs, and a line under Kinds in CHANGELOG.md`)
}

// write refuses to overwrite: a scaffold is only for what is not there.
func write(file string, t *template.Template, data any) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, data); err != nil {
		return err
	}
	out := text.Bytes()
	if filepath.Ext(file) == ".go" {
		if out, err = format.Source(out); err != nil {
			return err
		}
	}
	if _, err := f.Write(out); err != nil {
		return err
	}
	return f.Close()
}
