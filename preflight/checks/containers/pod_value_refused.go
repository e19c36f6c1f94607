package containers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

var podValueRefused = &check.Check{
	Name:     "pod-value-refused",
	Title:    "a value in the pod template is one that the API refuses in pods",
	Remedy:   "Write a value that the API takes.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Eclipses: []string{"secret-missing", "config-map-missing", "resource-claim-missing", "service-account-missing", "priority-class-missing", "runtime-class-missing"},
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if r.Replicas.Max == 0 {
			return
		}
		refuse := func(at job.Path, format string, args ...any) {
			if at == "" || p.Job.Field(at) == nil { // what an operator or a runtime adds is not the author's
				return
			}
			if text, ok := p.Job.Field(at).(string); !ok || !job.Templated(text) {
				said, meant, _ := strings.Cut(fmt.Sprintf(format, args...), "; did you mean ")
				if meant != "" { // a question stands at the end
					meant = "; did you mean " + meant
				}
				p.Reportf(at, "%s; the API server rejects the pods of %s%s", said, r.Name, meant)
			}
		}
		for _, x := range podspec.Refusals(&r.Pod) { // what decides where the pods go; the fit goes by it, too
			if at := r.Pod.At(x.At); x.Gate == "" {
				refuse(at, "%s", x.Text)
			} else if p.Job.Field(at) != nil {
				p.ReportAs(finding.Finding{Path: at, Severity: finding.Note},
					"%s; the API server takes it only where its feature gate %s is on, which it is not by default", x.Text, x.Gate)
			}
		}
		for _, ref := range facts.ReferencesOf(p.Job, r) {
			if facts.BadName(ref.Name) && !ref.AnyName {
				use, _, _ := strings.Cut(ref.Use, " of container ") // which the path says
				refuse(ref.At, "%s names %s %q; a name is lower-case letters, digits, - and .", use, ref.Kind.Kind, ref.Name)
			}
		}
		for _, refused := range []func(*job.Role, func(job.Path, string, ...any)){
			refusedPorts, refusedNames, refusedOfPod, refusedVariables, refusedMounts,
			refusedVolumes, refusedProbes, refusedRights, refusedPulls, refusedAmounts, refusedOfContainers,
		} {
			refused(r, refuse)
		}
		for k := range r.Pod.Spec.Containers {
			for n := range r.Pod.Spec.Containers[k].Ports {
				at := r.Pod.At(job.Path("containers").Index(k).Child("ports").Index(n).Child("containerPort"))
				if written, number := facts.Number(p.Job, at); number && written == 0 { // what is no number could not be read
					refuse(at, "port 0 of container %s is outside 1 to 65535", r.Pod.Spec.Containers[k].Name)
				}
			}
		}
	}),
}

type refuse = func(at job.Path, format string, args ...any)

// The rules are those of k8s.io/kubernetes v1.37 pkg/apis/core/validation/validation.go.

// plainAmounts are the resources of a container whose names have no domain, beside hugepages- of some size
// (pkg/apis/core/helper, IsStandardContainerResourceName).
var plainAmounts = []string{"cpu", "memory", "ephemeral-storage"}

// refusedAmounts: a name without a domain is one of the API's own. Slips for the name of a device are told by resource-name-misspelt.
func refusedAmounts(r *job.Role, refuse refuse) {
	for k := range r.Pod.Spec.Containers {
		c := &r.Pod.Spec.Containers[k]
		for _, field := range []string{"limits", "requests"} {
			list := map[string]corev1.ResourceList{"limits": c.Resources.Limits, "requests": c.Resources.Requests}[field]
			for _, name := range slices.Sorted(maps.Keys(list)) {
				plain := string(name)
				if strings.Contains(plain, "/") || strings.HasPrefix(plain, corev1.ResourceHugePagesPrefix) || slices.Contains(plainAmounts, plain) || job.MeantAccelerator(name) != "" {
					continue
				}
				meant := check.DidYouMean(plain, plainAmounts).String()
				if device := "nvidia.com/" + strings.TrimSuffix(plain, "s"); job.AcceleratorUnit(corev1.ResourceName(device)) != job.NotAccelerator {
					meant = "; a device has its plugin's domain: " + device
				}
				amount := list[name]
				refuse(r.Pod.At(job.Path("containers").Index(k).Child("resources", field).Key(plain)),
					"container %s asks for %s %q, which is no resource%s", c.Name, amount.String(), plain, meant)
			}
		}
	}
}

// refusedPorts: numbers from 1 to 65535, names of at most 15 characters with a letter in them.
func refusedPorts(r *job.Role, refuse refuse) {
	for k := range r.Pod.Spec.Containers {
		c := &r.Pod.Spec.Containers[k]
		for n, port := range c.Ports {
			at := job.Path("containers").Index(k).Child("ports").Index(n)
			if len(validation.IsValidPortNum(int(port.ContainerPort))) > 0 && port.ContainerPort != 0 {
				refuse(r.Pod.At(at.Child("containerPort")), "port %d of container %s is outside 1 to 65535", port.ContainerPort, c.Name)
			}
			if len(validation.IsValidPortNum(int(port.HostPort))) > 0 && port.HostPort != 0 {
				refuse(r.Pod.At(at.Child("hostPort")), "host port %d of container %s is outside 1 to 65535", port.HostPort, c.Name)
			}
			if !slices.Contains([]corev1.Protocol{"", corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}, port.Protocol) {
				refuse(r.Pod.At(at.Child("protocol")), "protocol of port %d of container %s is %q; it takes TCP, UDP or SCTP", port.ContainerPort, c.Name, port.Protocol)
			}
			if r.Pod.Spec.HostNetwork && port.HostPort != 0 && port.HostPort != port.ContainerPort {
				refuse(r.Pod.At(at.Child("hostPort")), "host port %d of container %s is not its port %d, which it must be with hostNetwork", port.HostPort, c.Name, port.ContainerPort)
			}
			if port.Name != "" && len(validation.IsValidPortName(port.Name)) > 0 {
				refuse(r.Pod.At(at.Child("name")), "port name %q is not valid: it takes at most 15 lower-case letters, digits and single dashes", port.Name)
			}
		}
	}
}

// refusedNames: names of volumes are DNS labels, values of labels and selectors at most 63 plain characters.
func refusedNames(r *job.Role, refuse refuse) {
	for k, v := range r.Pod.Spec.Volumes {
		if v.Name == "" || len(validation.IsDNS1123Label(v.Name)) == 0 {
			continue
		}
		refuse(r.Pod.At(job.Path("volumes").Index(k).Child("name")), "volume name %q is not valid: it takes at most 63 lower-case letters, digits and dashes", v.Name)
	}
	meta := job.Path(strings.TrimSuffix(string(r.Pod.Path), ".spec")).Child("metadata")
	for at, text := range facts.RefusedMetadata(meta, r.Pod.Labels, r.Pod.Annotations) {
		refuse(at, "%s", text)
	}
	for at, text := range facts.RefusedLabels(r.Pod.At("nodeSelector"), r.Pod.Spec.NodeSelector) {
		refuse(at, "%s", text)
	}
}
