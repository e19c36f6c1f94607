package containers

import (
	"net"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// everyContainer are the containers of a role with their places in the pod.
func everyContainer(r *job.Role, each func(c *corev1.Container, at job.Path, init bool)) {
	for i := range r.Pod.Spec.InitContainers {
		each(&r.Pod.Spec.InitContainers[i], r.Pod.At(job.Path("initContainers").Index(i)), true)
	}
	for i := range r.Pod.Spec.Containers {
		each(&r.Pod.Spec.Containers[i], r.Pod.At(job.Path("containers").Index(i)), false)
	}
}

// refusedOfPod: fields of the pod itself.
func refusedOfPod(r *job.Role, refuse refuse) {
	s := &r.Pod.Spec
	if s.DNSPolicy == corev1.DNSNone && (s.DNSConfig == nil || len(s.DNSConfig.Nameservers) == 0) {
		refuse(r.Pod.At("dnsPolicy"), "dnsPolicy None needs a name server under dnsConfig.nameservers")
	}
	if s.Hostname != "" && len(validation.IsDNS1123Label(s.Hostname)) > 0 {
		refuse(r.Pod.At("hostname"), "hostname %q is not valid: it takes at most 63 lower-case letters, digits and dashes", s.Hostname)
	}
	if p := s.PreemptionPolicy; p != nil && *p != corev1.PreemptNever && *p != corev1.PreemptLowerPriority {
		refuse(r.Pod.At("preemptionPolicy"), "preemptionPolicy is %q; it takes Never or PreemptLowerPriority", *p)
	}
	if s.HostUsers != nil && !*s.HostUsers && (s.HostPID || s.HostIPC) {
		refuse(r.Pod.At("hostUsers"), "hostUsers false and hostPID or hostIPC exclude each other")
	}
	if len(s.EphemeralContainers) > 0 {
		refuse(r.Pod.At("ephemeralContainers"), "ephemeralContainers are added to pods that there are, and may not be written")
	}
	for k, a := range s.HostAliases {
		if net.ParseIP(a.IP) == nil {
			refuse(r.Pod.At(job.Path("hostAliases").Index(k).Child("ip")), "ip of a host alias is %q; it takes an IP address", a.IP)
		}
	}
	if s.HostPID && s.ShareProcessNamespace != nil && *s.ShareProcessNamespace {
		refuse(r.Pod.At("shareProcessNamespace"), "hostPID and shareProcessNamespace exclude each other")
	}
}

// refusedPulls: an image is pulled always, never, or where it is not there.
func refusedPulls(r *job.Role, refuse refuse) {
	everyContainer(r, func(c *corev1.Container, at job.Path, _ bool) {
		if !slices.Contains([]corev1.PullPolicy{"", corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}, c.ImagePullPolicy) {
			refuse(at.Child("imagePullPolicy"), "imagePullPolicy of container %s is %q; it takes Always, IfNotPresent or Never", c.Name, c.ImagePullPolicy)
		}
	})
}

// downward are the fields of a pod that a variable may show.
var downward = regexp.MustCompile(`^(?:metadata\.(?:name|namespace|uid|(?:labels|annotations)\['[^']+'\])|spec\.(?:nodeName|serviceAccountName)|status\.(?:hostIPs?|podIPs?))$`)

// measured are the resources of a container that a variable may show.
var measured = regexp.MustCompile(`^(?:limits|requests)\.(?:cpu|memory|ephemeral-storage|hugepages-\w+)$`)

// refusedVariables: a name without =, and one source.
func refusedVariables(r *job.Role, refuse refuse) {
	everyContainer(r, func(c *corev1.Container, at job.Path, _ bool) {
		for i, e := range c.Env {
			here := at.Child("env").Index(i)
			switch from := e.ValueFrom; {
			case e.Name == "" || strings.Contains(e.Name, "="):
				refuse(here, "a variable of container %s is called %q; a name has one character at least, and no =", c.Name, e.Name)
			case from == nil:
			case e.Value != "":
				refuse(here, "variable %s of container %s has a value and valueFrom", e.Name, c.Name)
			case from.FieldRef != nil && !downward.MatchString(from.FieldRef.FieldPath):
				refuse(here, "variable %s of container %s reads %q, which variables cannot", e.Name, c.Name, from.FieldRef.FieldPath)
			case from.ResourceFieldRef != nil && !measured.MatchString(from.ResourceFieldRef.Resource):
				refuse(here, "variable %s of container %s reads %q; it takes limits and requests of cpu, memory, ephemeral-storage, hugepages", e.Name, c.Name, from.ResourceFieldRef.Resource)
			}
		}
		for i, from := range c.EnvFrom {
			here := at.Child("envFrom").Index(i)
			if (from.ConfigMapRef == nil) == (from.SecretRef == nil) {
				refuse(here, "an envFrom of container %s needs either configMapRef or secretRef", c.Name)
			}
		}
	})
}

// refusedMounts: a place, and below it what stays within the volume.
func refusedMounts(r *job.Role, refuse refuse) {
	everyContainer(r, func(c *corev1.Container, at job.Path, _ bool) {
		for i, m := range c.VolumeMounts {
			here := at.Child("volumeMounts").Index(i)
			switch {
			case m.MountPath == "":
				refuse(here, "container %s mounts volume %s nowhere: mountPath is empty", c.Name, m.Name)
			case m.SubPath != "" && m.SubPathExpr != "":
				refuse(here, "container %s mounts volume %s with subPath and subPathExpr, which exclude each other", c.Name, m.Name)
			case leaves(m.SubPath) || leaves(m.SubPathExpr):
				refuse(here, "container %s mounts %q of volume %s, which leaves it: a subPath is relative and has no ..", c.Name, m.SubPath+m.SubPathExpr, m.Name)
			}
		}
	})
}

func leaves(path string) bool {
	return strings.HasPrefix(path, "/") || slices.Contains(strings.Split(path, "/"), "..")
}

var hostPathTypes = []corev1.HostPathType{
	"", corev1.HostPathDirectoryOrCreate, corev1.HostPathDirectory, corev1.HostPathFileOrCreate, corev1.HostPathFile, corev1.HostPathSocket,
	corev1.HostPathCharDev, corev1.HostPathBlockDev,
}

// refusedVolumes: one source each, with what it needs. One without a source becomes an emptyDir.
func refusedVolumes(r *job.Role, refuse refuse) {
	for i := range r.Pod.Spec.Volumes {
		v := &r.Pod.Spec.Volumes[i]
		at := r.Pod.At(job.Path("volumes").Index(i))
		sources := 0
		for _, there := range []bool{
			v.HostPath != nil, v.EmptyDir != nil, v.PersistentVolumeClaim != nil, v.ConfigMap != nil, v.Secret != nil, v.NFS != nil, v.CSI != nil,
			v.Ephemeral != nil, v.Projected != nil, v.DownwardAPI != nil, v.Image != nil,
		} {
			if there {
				sources++
			}
		}
		switch {
		case sources > 1:
			refuse(at, "volume %s has %d sources, and takes one", v.Name, sources)
		case v.HostPath != nil && v.HostPath.Type != nil && !slices.Contains(hostPathTypes, *v.HostPath.Type):
			refuse(at.Child("hostPath", "type"), "hostPath of volume %s has type %q, and takes one such as Directory or File", v.Name, *v.HostPath.Type)
		case v.HostPath != nil && slices.Contains(strings.Split(v.HostPath.Path, "/"), ".."):
			refuse(at.Child("hostPath", "path"), "hostPath of volume %s is %q, and may not have ..", v.Name, v.HostPath.Path)
		case v.ConfigMap != nil && v.ConfigMap.Name == "":
			refuse(at.Child("configMap"), "volume %s names no ConfigMap", v.Name)
		case v.Secret != nil && v.Secret.SecretName == "":
			refuse(at.Child("secret"), "volume %s names no Secret", v.Name)
		case v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == "":
			refuse(at.Child("persistentVolumeClaim"), "volume %s names no claim", v.Name)
		case modeOf(v) < 0 || modeOf(v) > 0o777:
			refuse(at, "defaultMode of volume %s is %d; it takes 0 to 511, which is 0777 in octal", v.Name, modeOf(v))
		case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate == nil:
			refuse(at.Child("ephemeral"), "volume %s has no volumeClaimTemplate", v.Name)
		}
	}
}

// modeOf is the rights that files of a volume get. A mode without a leading 0 is decimal in YAML: 644 is 01204.
func modeOf(v *corev1.Volume) int32 {
	var mode *int32
	switch {
	case v.ConfigMap != nil:
		mode = v.ConfigMap.DefaultMode
	case v.Secret != nil:
		mode = v.Secret.DefaultMode
	case v.Projected != nil:
		mode = v.Projected.DefaultMode
	case v.DownwardAPI != nil:
		mode = v.DownwardAPI.DefaultMode
	}
	return ptr.Deref(mode, 0)
}

// refusedProbes: one way to ask, a port that there is, and one success for what kills. What runs before the containers is
// asked nothing, unless it runs on beside them.
func refusedProbes(r *job.Role, refuse refuse) {
	everyContainer(r, func(c *corev1.Container, at job.Path, init bool) {
		if sidecar := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways; init && !sidecar {
			for _, has := range []struct {
				name string
				is   bool
			}{{"lifecycle", c.Lifecycle != nil}, {"livenessProbe", c.LivenessProbe != nil}, {"readinessProbe", c.ReadinessProbe != nil}, {"startupProbe", c.StartupProbe != nil}} {
				if has.is {
					refuse(at.Child(has.name), "init container %s has a %s, which goes with restartPolicy Always only", c.Name, has.name)
				}
			}
		}
		for _, one := range []struct {
			name   string
			probe  *corev1.Probe
			single bool
		}{{"livenessProbe", c.LivenessProbe, true}, {"readinessProbe", c.ReadinessProbe, false}, {"startupProbe", c.StartupProbe, true}} {
			if one.probe == nil {
				continue
			}
			here := at.Child(one.name)
			h := one.probe.ProbeHandler
			switch ways := counted(h.Exec != nil, h.HTTPGet != nil, h.TCPSocket != nil, h.GRPC != nil); {
			case ways != 1:
				refuse(here, "%s of container %s has %d of exec, httpGet, tcpSocket and grpc, and needs one", one.name, c.Name, ways)
			case noPort(askedPort(&h)):
				refuse(here, "%s of container %s asks port %d; a port is 1 to 65535", one.name, c.Name, askedPort(&h).IntVal)
			case one.single && one.probe.SuccessThreshold > 1:
				refuse(here, "%s of container %s has successThreshold %d, and takes 1", one.name, c.Name, one.probe.SuccessThreshold)
			}
		}
		if c.Lifecycle == nil {
			return
		}
		for name, h := range map[string]*corev1.LifecycleHandler{"postStart": c.Lifecycle.PostStart, "preStop": c.Lifecycle.PreStop} {
			if h != nil && counted(h.Exec != nil, h.HTTPGet != nil, h.TCPSocket != nil, h.Sleep != nil) != 1 {
				refuse(at.Child("lifecycle", name), "%s of container %s needs one of exec, httpGet and sleep", name, c.Name)
			}
		}
	})
}

func counted(all ...bool) (n int) {
	for _, one := range all {
		if one {
			n++
		}
	}
	return n
}

// askedPort is the port that a probe asks, or a name where it asks none.
func askedPort(h *corev1.ProbeHandler) intstr.IntOrString {
	switch {
	case h.HTTPGet != nil:
		return h.HTTPGet.Port
	case h.TCPSocket != nil:
		return h.TCPSocket.Port
	case h.GRPC != nil:
		return intstr.FromInt32(h.GRPC.Port)
	}
	return intstr.FromString("")
}

func noPort(p intstr.IntOrString) bool {
	return p.Type == intstr.Int && len(validation.IsValidPortNum(p.IntValue())) > 0
}

// refusedRights: numbers of users, and privileges that contradict themselves.
func refusedRights(r *job.Role, refuse refuse) {
	everyContainer(r, func(c *corev1.Container, at job.Path, _ bool) {
		s := c.SecurityContext
		if s == nil {
			return
		}
		if s.RunAsUser != nil && *s.RunAsUser < 0 {
			refuse(at.Child("securityContext", "runAsUser"), "runAsUser of container %s is %d; it takes 0 or more", c.Name, *s.RunAsUser)
		}
		if s.Privileged != nil && *s.Privileged && s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation {
			refuse(at.Child("securityContext", "allowPrivilegeEscalation"), "container %s is privileged, and allowPrivilegeEscalation is false", c.Name)
		}
	})
}
