// Package input reads the manifests that a command is given: files, folders, charts, kustomizations, addresses, a pipe, jobs of
// a cluster. What cannot be read is a trouble and hides nothing else. Start reading at Flags.Read in sources.go.
package input

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// Input is what the files of -f hold.
type Input struct {
	Jobs     []manifest.Document // of kinds that have a reader
	Others   []manifest.Document // everything else: what a job may refer to, and what nothing covers
	Troubles []preflight.Trouble // what could not be read
	Notes    []string            // for stderr
	Twins    map[string]string   // by where a job stands: that another of its name stands before it
	Quotes   *Quotes             // the lines of the files
	foreign  []string            // files of folders that hold no Kubernetes object
	// templates are files of a chart that its engine has not filled in.
	templates []string
	Requests  map[string]manifest.Document // who asks about the jobs of a file, where the file says so
}

// inputOf reads all sources. Documents that cannot be read are troubles, and do not keep
// the others from being reviewed; input without a single object is an error.
func inputOf(found []manifest.Source) (*Input, error) {
	in := &Input{Requests: map[string]manifest.Document{}, Twins: map[string]string{}}
	empty := ""
	read, err := Documents(found)
	if err != nil {
		return nil, err
	}
	for i, s := range found {
		before := len(in.Jobs) + len(in.Others) + len(in.Troubles)
		lists := 0
		for _, r := range read[i] {
			switch d := r.Document; {
			case r.Err != nil:
				in.unreadable(s, r.Err)
			case d.List:
				lists++
			case d.Object.GroupVersionKind() == policies.RequestKind:
				in.Requests[d.Source] = d
			case kinds.For(d.Object.GroupVersionKind()) != nil:
				in.Jobs = append(in.Jobs, d)
				if d.OpenPAI() {
					in.Notes = append(in.Notes, d.Where()+": read as the Framework that OpenPAI makes of it; its label of nodes and what else it adds to every job are left out")
					in.Notes = append(in.Notes, d.Remarks()...)
				}
			default:
				in.Others = append(in.Others, d)
			}
		}
		if !s.Recurse && lists == 0 && before == len(in.Jobs)+len(in.Others)+len(in.Troubles) {
			empty = s.Name
			in.Trouble(&manifest.Problem{Source: s.Name, Have: "holds no object", Want: "Kubernetes objects as YAML or JSON"})
		}
	}
	if empty == "" && len(in.Jobs)+len(in.Others)+len(in.Troubles) == 0 {
		in.Notes = append(in.Notes, "no object was read")
	}
	in.uncovered()
	in.twins()
	if n := len(in.templates); n > 0 {
		in.Notes = append(in.Notes, "passed over, because helm has not filled them in: "+terminal.Few(in.templates))
	}
	if n := len(in.foreign); n > 0 {
		in.Notes = append(in.Notes, "passed over, because no Kubernetes object begins there: "+terminal.Few(in.foreign))
	}
	return in, nil
}

// Reading is a document of a file, or why there is none.
type Reading struct {
	Document manifest.Document
	Err      error
}

// Documents reads all files, several at a time; the documents are in the order of the files.
func Documents(found []manifest.Source) ([][]Reading, error) {
	out := make([][]Reading, len(found))
	err := shell.InParallel(runtime.GOMAXPROCS(0), len(found), func(i int) error {
		for d, err := range found[i].Documents() {
			out[i] = append(out[i], Reading{d, err})
		}
		return nil
	})
	return out, err
}

// unreadable files a problem. In a folder, files that are not Kubernetes objects at all
// (values of a chart, the chart itself) are passed over with a note.
func (in *Input) unreadable(s manifest.Source, err error) {
	p, ok := errors.AsType[*manifest.Problem](err)
	if base := filepath.Base(s.Name); s.Recurse && (base == "kustomization.yaml" || base == "kustomization.yml" || base == "Kustomization") {
		in.Notes = append(in.Notes, fmt.Sprintf("%s is a kustomization, and what it patches is read as it stands; -k %s builds it", s.Name, filepath.Dir(s.Name)))
		return
	}
	if ok && s.Recurse && (p.NotObject || filepath.Base(s.Name) == "Chart.yaml") { // which has an apiVersion, of helm's
		in.foreign = append(in.foreign, p.Where())
		return
	}
	if ok && s.Recurse && in.template(s) {
		return
	}
	if base := filepath.Base(s.Name); ok && p.NotObject && strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(base), ".yaml"), ".yml") == "kustomization" {
		err = &manifest.Problem{Source: s.Name, Have: "is a kustomization", Want: "-k " + filepath.Dir(s.Name) + ", which builds it"}
	}
	in.Trouble(err)
}

// Trouble notes what could not be read.
func (in *Input) Trouble(err error) {
	t := preflight.Trouble{Message: terminal.OneLine(err.Error())}
	if p, ok := errors.AsType[*manifest.Problem](err); ok {
		t = preflight.Trouble{Source: p.Where(), Message: terminal.OneLine(p.Text())}
	}
	in.Troubles = append(in.Troubles, t)
}

// Say prints troubles and notes to stderr, one line each.
func (in *Input) Say(sh *shell.Shell) {
	for _, t := range in.Troubles {
		line := t.Message
		if t.Source != "" {
			line = t.Source + ": " + line
		}
		sh.Tell("%s", line)
	}
	sh.Notes(in.Notes)
}

// uncovered notes, once for each kind, what no reader covers.
func (in *Input) uncovered() {
	seen := map[schema.GroupKind]bool{}
	passed := map[string]int{}
	for _, d := range in.Others {
		gvk := d.Object.GroupVersionKind()
		if meant := Misspelt(gvk); !meant.Empty() {
			in.Trouble(&manifest.Problem{
				Source: d.Source, Line: d.Position("kind"),
				Have: fmt.Sprintf("kind %s of %s is not known", gvk.Kind, gvk.GroupVersion()), Want: meant.Kind + " of " + meant.GroupVersion().String(),
			})
			in.Jobs = append(in.Jobs, as(d, meant)) // what else is wrong is found now, and not when the kind is mended
			continue
		}
		if builtIn(gvk) || aroundJobs[gvk.Group] {
			passed[gvk.Kind]++
			continue
		}
		if supporting[gvk.GroupKind()] {
			continue
		}
		if !seen[gvk.GroupKind()] {
			seen[gvk.GroupKind()] = true
			in.Notes = append(in.Notes, fmt.Sprintf("%s: %s", d.Where(), notCovered(gvk)))
		}
	}
	if len(passed) == 0 {
		return
	}
	var words []string
	for kind, n := range passed {
		words = append(words, map[bool]string{true: kind, false: fmt.Sprintf("%d %s", n, kind)}[n == 1])
	}
	slices.Sort(words)
	in.Notes = append(in.Notes, "passed over, because these are no training jobs: "+strings.Join(words, ", "))
}

// twins notes jobs of one name in one file: applied together, the second changes the first instead of being one more.
// Files of a folder are often variants of which one is applied.
func (in *Input) twins() {
	type identity struct {
		source, namespace, name string
		kind                    schema.GroupKind
	}
	first := map[identity]manifest.Document{}
	for _, d := range in.Jobs {
		id := identity{d.Source, d.Object.GetNamespace(), d.Object.GetName(), d.Object.GroupVersionKind().GroupKind()}
		if before, twice := first[id]; twice && id.name != "" {
			note := fmt.Sprintf("%s %s stands at line %d as well: applied together, the second is a change of the first", id.kind.Kind, id.name, before.Line)
			in.Notes = append(in.Notes, d.Where()+": "+note)
			in.Twins[d.Where()] = note
			continue
		}
		first[id] = d
	}
}

// as is a document whose object is of another kind than is written.
func as(d manifest.Document, meant schema.GroupVersionKind) manifest.Document {
	d.Object = d.Object.DeepCopy()
	d.Object.SetGroupVersionKind(meant)
	return d
}

// aroundJobs are groups of what jobs are queued, placed and given devices by: none has a job.
var aroundJobs = map[string]bool{
	"kueue.x-k8s.io": true, "scheduling.x-k8s.io": true, "scheduling.volcano.sh": true, "scheduling.run.ai": true,
	"scheduler.tensorstack.dev": true, "resource.nvidia.com": true, "karpenter.sh": true,
}

// supporting are kinds that jobs refer to; they are read where a job names them.
var supporting = map[schema.GroupKind]bool{
	{Group: "trainer.kubeflow.org", Kind: "TrainingRuntime"}:        true,
	{Group: "trainer.kubeflow.org", Kind: "ClusterTrainingRuntime"}: true,
}

// plainGroups are the groups without a dot. No other can be without one: a CustomResourceDefinition needs a domain
// (https://kubernetes.io/docs/reference/using-api/#api-groups).
var plainGroups = map[string]bool{"": true, "apps": true, "batch": true, "autoscaling": true, "policy": true, "extensions": true}

// builtIn says whether a kind is Kubernetes' own. Its groups have no dot, or end in
// .k8s.io without being one of the projects' (kueue.x-k8s.io and others have an x-, and
// what ends in .sigs.k8s.io is a project's, or meant to be: jobset.sigs.k8s.io).
func builtIn(gvk schema.GroupVersionKind) bool {
	if !strings.Contains(gvk.Group, ".") {
		return plainGroups[gvk.Group]
	}
	return strings.HasSuffix(gvk.Group, ".k8s.io") && !strings.HasSuffix(gvk.Group, ".x-k8s.io") && !strings.HasSuffix(gvk.Group, ".sigs.k8s.io")
}

// Misspelt is the covered kind that an object means whose kind, group or version is written
// wrong; the zero value: none is close enough to say so. A kind that is not known would be passed over,
// and the job with it.
func Misspelt(gvk schema.GroupVersionKind) (best schema.GroupVersionKind) {
	nearest := math.MaxInt
	nobodys := !strings.Contains(gvk.Group, ".") && (gvk.Group == "" || !plainGroups[gvk.Group]) // none of the kinds here is of the core group
	for _, k := range kinds.All() {
		for _, have := range k.GVKs {
			kind, nearKind := apiserver.Distance(gvk.Kind, have.Kind)
			group, nearGroup := apiserver.Distance(gvk.Group, have.Group)
			if (group == 0 && nearKind || kind == 0 && (nearGroup || nobodys)) && kind+group < nearest {
				best, nearest = have, kind+group
			}
		}
	}
	return best
}

// notCovered says which kind has no reader, and which kinds have one: of the same name in
// another group or version, if there is one.
func notCovered(gvk schema.GroupVersionKind) string {
	var same, all []string
	for _, k := range kinds.All() {
		all = append(all, k.Name)
		for _, have := range k.GVKs {
			if strings.EqualFold(have.Kind, gvk.Kind) {
				same = append(same, have.Kind+" of "+have.GroupVersion().String())
			}
		}
	}
	this := fmt.Sprintf("kind %s of %s is not covered", gvk.Kind, gvk.GroupVersion())
	if len(same) > 0 {
		return this + ", although its name is known: covered is " + strings.Join(same, ", ")
	}
	return this + ": covered are " + strings.Join(all, ", ")
}
