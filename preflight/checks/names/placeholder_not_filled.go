package names

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var placeholderNotFilled = &check.Check{
	Name:     "placeholder-not-filled",
	Title:    "a name that was to be filled in stands there as in the example",
	Remedy:   "Write the name of your own, or run the template through what fills it in.",
	Severity: finding.Warning, Since: "0.1",
	Eclipses: []string{"claim-missing", "secret-missing", "config-map-missing", "pull-secret-missing"},
	Run: func(p *check.Pass) {
		for r := range p.Job.EachRole() {
			for k := range r.Pod.Spec.Volumes {
				unfilledVolume(&r.Pod.Spec.Volumes[k], func(rel job.Path, written string) {
					p.Reportf(r.Pod.At(job.Path("volumes").Index(k).Join(rel)), "volume %s of %s names %s, which nothing replaces there", r.Pod.Spec.Volumes[k].Name, facts.PodsOf(r), facts.Quoted(written))
				})
			}
			unfilledNames(p, r)
		}
		for r, c := range p.Job.EachContainer() {
			if r.Replicas.Max > 0 && facts.LeftOpen(c.Name) {
				p.ReportAs(finding.Finding{Severity: finding.Error, Path: r.Pod.At(c.Rel.Child("name"))},
					"a container of %s is called %s, which nothing replaces there: the API server rejects the pods", facts.PodsOf(r), facts.Quoted(c.Name))
			}
			if part := exampleOf(c.Image); part != "" {
				p.Reportf(r.Pod.At(c.Rel.Child("image")), "image %s still has %s in it, as in an example", facts.Quoted(c.Image), facts.Quoted(strings.Trim(part, "/:")))
			}
			visit := func(value string, at job.Path) {
				if !strings.Contains(value, "://") {
					return
				}
				if m := upperBucket.FindStringSubmatch(value); m != nil {
					p.Reportf(at, "%s names a bucket %s in capitals; the name of a bucket is lower case", facts.Quoted(m[0]), facts.Quoted(m[1]))
				}
			}
			tags := func(value string, at job.Path) {
				if left := unfilledTags(p.Job, value); left != "" {
					p.Reportf(at, "a command of %s leaves open what nothing fills in: %s", facts.PodsOf(r), left)
				}
			}
			reader := func(value, in string, at job.Path) {
				if left := ofReader.FindString(value); left != "" {
					p.Reportf(at, "%s stands in %s of %s, where nothing replaces it", facts.Quoted(left), in, facts.Whose(c.Name, r.Name))
				}
			}
			for k, e := range c.Env {
				visit(e.Value, r.Pod.At(c.Rel.Child("env").Index(k)))
				if wholePlaceholder.MatchString(e.Value) {
					p.Reportf(r.Pod.At(c.Rel.Child("env").Index(k)), "%s of %s is %s, which nothing replaces there", e.Name, facts.Whose(c.Name, r.Name), facts.Quoted(e.Value))
				} else if e.Name != "USER_CMD" {
					reader(e.Value, e.Name, r.Pod.At(c.Rel.Child("env").Index(k)))
				}
				if e.Name == "USER_CMD" {
					tags(e.Value, r.Pod.At(c.Rel.Child("env").Index(k)))
				}
			}
			for k, w := range c.Command {
				visit(w, r.Pod.At(c.Rel.Child("command").Index(k)))
				tags(w, r.Pod.At(c.Rel.Child("command").Index(k)))
				reader(w, "the command", r.Pod.At(c.Rel.Child("command").Index(k)))
			}
			for k, w := range c.Args {
				visit(w, r.Pod.At(c.Rel.Child("args").Index(k)))
				tags(w, r.Pod.At(c.Rel.Child("args").Index(k)))
				reader(w, "the arguments", r.Pod.At(c.Rel.Child("args").Index(k)))
			}
		}
	},
}

// unfilledNames: the API takes no name with a placeholder in it, and no shell and no kubelet reads the names of a pod.
func unfilledNames(p *check.Pass, r *job.Role) {
	for _, key := range slices.Sorted(maps.Keys(r.Pod.Spec.NodeSelector)) { // no label has such a value
		at := r.Pod.At(job.Path("nodeSelector").Key(key))
		if value := r.Pod.Spec.NodeSelector[key]; facts.LeftOpen(value) && r.Replicas.Max > 0 && p.Job.Field(at) != nil {
			p.ReportAs(finding.Finding{Severity: finding.Error, Path: at},
				"nodeSelector %s of %s is %s, which nothing replaces there: the API server rejects the pods", key, facts.PodsOf(r), facts.Quoted(value))
		}
	}
	if r.Replicas.Max == 0 {
		return
	}
	for _, ref := range facts.ReferencesOf(p.Job, r) {
		f := finding.Finding{Path: ref.At}
		switch {
		case p.Job.Field(ref.At) == nil: // an operator's or a runtime's
		case facts.LeftOpen(ref.Name) && ref.AnyName:
			p.ReportAs(f, "%s names %s %s, which nothing replaces there", ref.Use, ref.Kind.Kind, facts.Quoted(ref.Name))
		case facts.LeftOpen(ref.Name):
			f.Severity = finding.Error
			p.ReportAs(f, "%s names %s %s, which nothing replaces there: the API server rejects the pods", ref.Use, ref.Kind.Kind, facts.Quoted(ref.Name))
		case facts.BadName(ref.Name) && ref.AnyName: // REPLACE_WITH_YOUR_PVC: the pods wait for what cannot come
			p.ReportAs(f, "%s names %s %s, and nothing can be called so: a name takes lower-case letters, digits, dashes and dots", ref.Use, ref.Kind.Kind, facts.Quoted(ref.Name))
		}
	}
}

// ofReader is what addresses the reader in the middle of a text, or stands where a store has its bucket: <your_bucket>,
// gs://<OUTPUT BUCKET>. Other words in angle brackets are tokens of a model, and files that a shell reads.
var ofReader = regexp.MustCompile(`<(?i:your)[ _-][A-Za-z0-9_ .-]*>|\b(?:gs|s3)://<[A-Za-z][A-Za-z0-9_ .-]*>`)

// wholePlaceholder is a value that is nothing but a word in angle brackets: <YOUR_TOKEN>.
var wholePlaceholder = regexp.MustCompile(`^<[A-Za-z_][A-Za-z0-9_ .-]*>$`)

// unfilledVolume reports what a volume names by a placeholder: no shell and no kubelet reads it.
func unfilledVolume(v *corev1.Volume, report func(rel job.Path, written string)) {
	switch {
	case v.CSI != nil:
		for _, key := range slices.Sorted(maps.Keys(v.CSI.VolumeAttributes)) { // which may be JSON, or what its driver expands
			if job.Templated(v.CSI.VolumeAttributes[key]) {
				report(job.Path("csi.volumeAttributes").Key(key), v.CSI.VolumeAttributes[key])
			}
		}
	case v.HostPath != nil && facts.LeftOpen(v.HostPath.Path):
		report("hostPath.path", v.HostPath.Path)
	}
}

// exampleOf is the part of an image's name that addresses the reader; empty: none does.
func exampleOf(image string) string {
	if !strings.Contains(image, "your-") {
		return ""
	}
	return exampleImage.FindString(image)
}

var (
	// exampleImage is a part of an image's name that addresses the reader: your-registry.
	exampleImage = regexp.MustCompile(`(^|/)your-(registry|repo|repository|project|org|organization|company|account|user|username|name|image|namespace)([/:]|$)`)
	// upperBucket is a bucket whose name has capitals, which no store takes
	// (cloud.google.com/storage/docs/buckets; docs.aws.amazon.com/AmazonS3, bucket naming rules).
	upperBucket = regexp.MustCompile(`\b(?:gs|s3)://([A-Z][A-Z0-9_-]+)\b`)
)
