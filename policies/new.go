//go:build ignore

// Command new begins a policy: a file with the rule and fixtures that fail until they show
// something.
//
//	make new-policy NAME=whole-node-needs-queue
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const rule = `# METADATA
# title: what holds where this policy is at work
# description: Why, and which data configures it.
# custom:
#   remedy: Say in one sentence what to do.
package signalbox.PACKAGE

deny contains {"path": role.path, "msg": msg} if {
	some role in input.job.roles
	role.max > data.config.PACKAGE.limit
	msg := sprintf("%s has %d pods; %d are allowed", [role.name, role.max, data.config.PACKAGE.limit])
}
`

const data = `# The data that configures the policy in the fixtures.
config: {}
`

const job = `apiVersion: kubeflow.org/v1
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
	dir := flag.String("dir", "library", "folder to write into")
	flag.Parse()
	name := flag.Arg(0)
	if !slug.MatchString(name) {
		log.Fatalf("%q is no name for a policy; want lower-case words joined by dashes, such as whole-node-needs-queue", name)
	}
	pkg := strings.ReplaceAll(name, "-", "_")
	fixtures := filepath.Join(*dir, "testdata", pkg)
	write(filepath.Join(*dir, pkg+".rego"), strings.ReplaceAll(rule, "PACKAGE", pkg))
	write(filepath.Join(fixtures, "data.yaml"), data)
	write(filepath.Join(fixtures, "allow-EDIT.yaml"), job)
	write(filepath.Join(fixtures, "deny-EDIT.yaml"), job)
	write(filepath.Join(fixtures, "deny-EDIT.want"), "deny spec.pytorchReplicaSpecs.Worker: what the policy says\n")
	log.Printf("next: write the rule and its fixtures, then go test ./policies")
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
