//go:build ignore

// Command new begins a check: a file with the rule, a page that says why, and two fixtures
// that fail until they show something.
//
//	make new-check NAME=resources/gpu-request-exceeds-node
package main

import (
	"flag"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const rule = `package FAMILY

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var VARIABLE = &check.Check{
	Name:     "NAME",
	Title:    "what is wrong, in at most 72 characters",
	Remedy:   "Say in one sentence what to do.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		// p.Reportf(path, "what is, with both numbers", …)
	},
}
`

const page = `Why this matters: what its author meant, what happens instead, and how one notices.
`

const job = `-- job.yaml --
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, namespace: ml}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: pytorch
            image: registry.example.com/train:1
`

var slug = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", ".", "folder to write into")
	flag.Parse()
	family, name, _ := strings.Cut(flag.Arg(0), "/")
	if families := folders(); !slices.Contains(families, family) {
		log.Fatalf("%q is no family of checks: want family/slug, the family one of %s", family, strings.Join(families, ", "))
	}
	if !slug.MatchString(name) {
		log.Fatalf("%q is no name for a check; want lower-case words joined by dashes, such as gpu-request-exceeds-node", name)
	}
	fill := strings.NewReplacer("VARIABLE", variable(name), "FAMILY", family, "NAME", name)
	fixtures := filepath.Join(*dir, family, "testdata", name)
	write(filepath.Join(*dir, family, strings.ReplaceAll(name, "-", "_")+".go"), fill.Replace(rule))
	write(filepath.Join(fixtures, "README.md"), page)
	write(filepath.Join(fixtures, "fires-on-EDIT.txtar"), "Show the mistake, and say on the guilty line: # want `what the check says`\n"+job)
	write(filepath.Join(fixtures, "stays-silent-on-EDIT.txtar"), "Show what looks like the mistake and is none.\n"+job)
	addRule(filepath.Join(*dir, "testdata", "rules.tsv"), name)
	if *dir == "." {
		if out, err := exec.Command("go", "run", "generate.go").CombinedOutput(); err != nil {
			log.Fatalf("list the checks: %v\n%s", err, out)
		}
	}
	log.Printf(`next: 1. write the rule, its page and its fixtures, and rename the fixtures
      2. say in testdata/rules.tsv what asks for it, with a source: the row is there
      3. go test ./preflight/checks -update, and read what the check says
      4. make docs, and a line under Checks in CHANGELOG.md`)
}

// folders are the families: the packages here that list their checks.
func folders() (out []string) {
	lists, err := filepath.Glob(filepath.Join("*", "zz_all.go"))
	if err != nil {
		log.Fatal(err)
	}
	for _, list := range lists {
		out = append(out, filepath.Dir(list))
	}
	return out
}

// addRule adds the row of the table of rules that every check needs.
func addRule(table, name string) {
	if err := os.MkdirAll(filepath.Dir(table), 0o755); err != nil {
		log.Fatal(err)
	}
	f, err := os.OpenFile(table, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := f.WriteString("What a pre-flight looks at\twhat the system asks of a job\t" + name + "\t\thttps://example.com\n"); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
	log.Print("added a row to ", table)
}

// variable is gpuRequestExceedsNode.
func variable(name string) string {
	words := strings.Split(name, "-")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

func write(path, text string) {
	if _, err := os.Stat(path); err == nil {
		log.Fatalf("%s is there already", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}
	log.Print("wrote ", path)
}
