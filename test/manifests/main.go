// Command manifests reviews real manifests whose mistakes are known by careful reading, and
// prints how often the checks are right: per check the hits against the labels, and what
// was missed. It reads the manifests where they lie and copies nothing.
//
//	go run ./test/manifests -dir ../shared/corpus/manifests
//
// It ends with 1 where a check cries wolf, panics, or a document cannot be read; see judge.
// labels.yaml says which label supports which check, explained.yaml what is right although
// nobody labelled it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

func main() {
	dir := flag.String("dir", "../shared/corpus/manifests", "folder with dev/ and LABELS.tsv")
	ours := flag.String("own", "test/manifests", "folder with labels.yaml and explained.yaml")
	verbose := flag.Bool("v", false, "print every finding with the labels of its manifest")
	only := flag.String("check", "", "with -v: only findings of this check")
	flag.Parse()
	if _, err := os.Stat(filepath.Join(*dir, "LABELS.tsv")); err != nil {
		fmt.Printf("no labelled manifests in %s: nothing is measured here\n", *dir)
		return
	}
	s, err := measure(context.Background(), *dir, *ours)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	if *verbose {
		s.tell(os.Stdout, *only)
	}
	s.print(os.Stdout)
	if complaints := s.judge(); len(complaints) > 0 {
		fmt.Fprintf(os.Stderr, "%s\nCorrect the check, or say in %s why it is right.\n", strings.Join(complaints, "\n"), filepath.Join(*ours, "explained.yaml"))
		os.Exit(1)
	}
}

// measure reviews all manifests of the folder.
func measure(ctx context.Context, dir, ours string) (*study, error) {
	s, err := newStudy(filepath.Join(dir, "LABELS.tsv"), ours)
	if err != nil {
		return nil, err
	}
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		return nil, err
	}
	if err := s.proofread(set.Names()); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "dev", "*.yaml"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	start := time.Now()
	for _, file := range files {
		if err := s.review(ctx, &preflight.Reviewer{Checks: set}, file); err != nil {
			return nil, err
		}
	}
	s.files, s.took = len(files), time.Since(start)
	return s, nil
}

// review reviews the jobs of one file as the shell does offline: with the other objects of
// the file, without a cluster. A second review, with a cluster that holds nothing, is only
// there to find panics.
func (s *study) review(ctx context.Context, r *preflight.Reviewer, file string) error {
	base := filepath.Base(file)
	jobs, others, err := s.open(file)
	if err != nil {
		return err
	}
	for _, d := range jobs {
		if d.Object.GetNamespace() == "" {
			d.Object.SetNamespace("default") // as the shell does without a kubeconfig
		}
		for _, view := range []*cluster.Snapshot{others, barren()} {
			report, err := r.Review(ctx, preflight.Request{Object: d.Object, Cluster: view, Namespace: map[string]string{}, Source: d.Where(), DuplicateKeys: d.DuplicateKeys()})
			if _, unknown := errors.AsType[*preflight.UnknownKindError](err); unknown {
				s.uncovered++
				break
			}
			if err != nil {
				return err
			}
			for _, f := range report.Failures() {
				s.troubles = append(s.troubles, fmt.Sprintf("%s: %s", base, f))
			}
			if view != others {
				continue
			}
			s.jobs++
			s.covered[base] = true
			for _, f := range report.Findings {
				s.hits = append(s.hits, hit{file: base, check: f.Check, severity: f.Severity, line: f.Line()})
			}
		}
	}
	return nil
}

// open reads the documents of a file. A document that cannot be read is a trouble.
func (s *study) open(file string) (jobs []manifest.Document, others *cluster.Snapshot, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var view manifest.View
	for d, err := range manifest.Read(file, io.Reader(f)) {
		foreign, isProblem := errors.AsType[*manifest.Problem](err)
		switch {
		case isProblem && foreign.NotObject:
			s.foreign++
		case err != nil:
			s.troubles = append(s.troubles, fmt.Sprintf("%s: unreadable: %v", filepath.Base(file), err))
		case d.List:
		default:
			jobs = append(jobs, d)
			view.Objects = append(view.Objects, d.Object)
		}
	}
	if len(view.Objects) < 2 {
		return jobs, nil, nil
	}
	others, err = view.Snapshot()
	if err != nil {
		s.troubles = append(s.troubles, fmt.Sprintf("%s: %v", filepath.Base(file), err))
		return jobs, nil, nil
	}
	return jobs, others, nil
}

// barren is a cluster in which everything is known and nothing is there.
func barren() *cluster.Snapshot {
	var b cluster.Builder
	for _, name := range []string{
		"nodes", "pods", "persistentvolumeclaims", "persistentvolumes", "resourcequotas", "limitranges", "serviceaccounts",
		"secrets", "configmaps", "priorityclasses.scheduling.k8s.io", "runtimeclasses.node.k8s.io", "storageclasses.storage.k8s.io",
		"resourceclaims.resource.k8s.io", "resourceclaimtemplates.resource.k8s.io", "deviceclasses.resource.k8s.io",
		"clustertrainingruntimes.trainer.kubeflow.org", "trainingruntimes.trainer.kubeflow.org",
		"localqueues.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io", "queues.scheduling.volcano.sh",
	} {
		b.Complete(schema.ParseGroupResource(name))
	}
	return b.Snapshot(time.Time{})
}
