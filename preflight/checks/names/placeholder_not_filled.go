package names

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

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
		for _, ref := range facts.AllReferences(p.Job) { // REPLACE_WITH_YOUR_PVC: the pods wait for what cannot come
			if facts.BadName(ref.Name) && ref.AnyName && p.Job.Field(ref.At) != nil {
				p.Reportf(ref.At, "%s names %s %s, and nothing can be called so: a name takes lower-case letters, digits, dashes and dots", ref.Use, ref.Kind.Kind, facts.Quoted(ref.Name))
			}
		}
		for r, c := range p.Job.EachContainer() {
			unfilledReferences(p, r, c.Container, c.Rel)
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
	for _, named := range []struct{ field, name string }{
		{"serviceAccountName", r.Pod.Spec.ServiceAccountName}, {"priorityClassName", r.Pod.Spec.PriorityClassName}, {"runtimeClassName", ptr.Deref(r.Pod.Spec.RuntimeClassName, "")},
	} {
		at := r.Pod.At(job.Path(named.field))
		if job.Templated(named.name) && r.Replicas.Max > 0 && p.Job.Field(at) != nil {
			p.ReportAs(finding.Finding{Severity: finding.Error, Path: at},
				"%s of %s is %s, which nothing replaces there: the API server rejects the pods", named.field, facts.PodsOf(r), facts.Quoted(named.name))
		}
	}
}

// unfilledReferences: nor does anybody read the name of a container, or of what its variables come from.
func unfilledReferences(p *check.Pass, r *job.Role, c *corev1.Container, rel job.Path) {
	judge := func(at job.Path, what, name string) {
		if r.Replicas.Max > 0 && facts.LeftOpen(name) {
			p.ReportAs(finding.Finding{Severity: finding.Error, Path: r.Pod.At(at)},
				"%s of %s is called %s, which nothing replaces there: the API server rejects the pods", what, facts.PodsOf(r), facts.Quoted(name))
		}
	}
	judge(rel.Child("name"), "a container", c.Name)
	for i, from := range c.EnvFrom {
		at := rel.Child("envFrom").Index(i)
		if from.ConfigMapRef != nil {
			judge(at.Child("configMapRef", "name"), "a ConfigMap", from.ConfigMapRef.Name)
		}
		if from.SecretRef != nil {
			judge(at.Child("secretRef", "name"), "a Secret", from.SecretRef.Name)
		}
	}
	for i, e := range c.Env {
		at := rel.Child("env").Index(i).Child("valueFrom")
		if e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil {
			judge(at.Child("configMapKeyRef", "name"), "a ConfigMap", e.ValueFrom.ConfigMapKeyRef.Name)
		}
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			judge(at.Child("secretKeyRef", "name"), "a Secret", e.ValueFrom.SecretKeyRef.Name)
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
	judge := func(rel job.Path, name string) {
		if facts.LeftOpen(name) {
			report(rel, name)
		}
	}
	switch {
	case v.CSI != nil:
		for _, key := range slices.Sorted(maps.Keys(v.CSI.VolumeAttributes)) { // which may be JSON, or what its driver expands
			if job.Templated(v.CSI.VolumeAttributes[key]) {
				report(job.Path("csi.volumeAttributes").Key(key), v.CSI.VolumeAttributes[key])
			}
		}
	case v.HostPath != nil:
		judge("hostPath.path", v.HostPath.Path)
	case v.PersistentVolumeClaim != nil:
		judge("persistentVolumeClaim.claimName", v.PersistentVolumeClaim.ClaimName)
	case v.ConfigMap != nil:
		judge("configMap.name", v.ConfigMap.Name)
	case v.Secret != nil:
		judge("secret.secretName", v.Secret.SecretName)
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
