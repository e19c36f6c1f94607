package checks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var addressOfNoPod = &check.Check{
	Name:     "address-of-no-pod",
	Title:    "the address of the first process is that of no pod",
	Doc:      readme("address-of-no-pod"),
	Remedy:   "Write the name that the operator gives the pod.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"JobSet", "PyTorchJob"},
	Needs: check.Whole,
	Run: func(p *check.Pass) error {
		if name := p.Job.Source.GetName(); name == "" || field(p.Job, "spec.network.enableDNSHostnames") == false {
			return nil
		}
		judge := func(at job.Path, what, address string) {
			if problem := noPod(p.Job, address); problem != "" {
				p.Reportf(at, "%s is %s; %s", what, quoted(address), problem)
			}
		}
		for i := range p.Job.Roles {
			if l := &p.Job.Roles[i].Launch; l.RendezvousPath != "" && slices.Contains([]string{"", "static", "c10d"}, l.Backend) {
				judge(l.RendezvousPath, "the rendezvous of "+l.Program, l.Rendezvous)
			}
		}
		eachVariable(p.Job, func(r *job.Role, c *corev1.Container, e *corev1.EnvVar, at job.Path) {
			if value, ok := literal(e); ok && slices.Contains(addressVariables, e.Name) && !overwritten(p.Job, r, c, e.Name) {
				judge(at, e.Name, value)
			}
		})
		return nil
	},
}

// addressVariables hold where the first process listens: torch.distributed, torchrun,
// jax.distributed, and what people call them in their own programs.
var addressVariables = []string{
	"MASTER_ADDR", "MASTER_ADDRESS", "PET_MASTER_ADDR", "PET_RDZV_ENDPOINT", "RDZV_ENDPOINT",
	"COORDINATOR_ADDR", "COORDINATOR_ADDRESS", "JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_ADDR",
}

// noPod says why nothing answers at an address that is meant for a pod of the job; empty
// where it is one, or means something else.
func noPod(j *job.Job, address string) string {
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "tcp://"), ":")
	name, domain, _ := strings.Cut(host, ".")
	if strings.ContainsAny(host, "$(){}<>") || !strings.HasPrefix(name, j.Source.GetName()+"-") {
		return ""
	}
	last := name[strings.LastIndexByte(name, '-')+1:]
	if _, err := strconv.Atoi(last); err != nil {
		return "" // a service of one's own
	}
	names := podHosts(j)
	if !slices.ContainsFunc(names, func(h hosts) bool { return h.has(name) }) {
		var said []string
		for _, h := range names {
			said = append(said, h.String())
		}
		return "the pods are called " + strings.Join(said, ", ")
	}
	if sub := subdomain(j); j.Ref.Kind == "JobSet" && strings.SplitN(domain, ".", 2)[0] != sub {
		return fmt.Sprintf("the pod's name in the network is %s.%s", name, sub)
	}
	return ""
}

// hosts are the names of the pods of one role: prefix-i, or prefix-i-j in a JobSet.
type hosts struct {
	prefix     string
	jobs, pods int // jobs 0: there is only one number
}

func podHosts(j *job.Job) (out []hosts) {
	for i := range j.Roles {
		r := &j.Roles[i]
		h := hosts{prefix: j.Source.GetName() + "-" + strings.ToLower(r.Name) + "-", pods: r.Replicas.Max}
		if j.Ref.Kind == "JobSet" {
			h.jobs = 1
			if n, ok := number(j, r.Path.Child("replicas")); ok {
				h.jobs = int(n)
			}
			spec := r.Path.Child("template", "spec")
			h.pods = 1
			for _, field := range []string{"parallelism", "completions"} {
				if n, ok := number(j, spec.Child(field)); ok {
					h.pods = max(h.pods, int(n))
				}
			}
		}
		out = append(out, h)
	}
	return out
}

func (h hosts) has(name string) bool {
	rest, ok := strings.CutPrefix(name, h.prefix)
	if !ok {
		return false
	}
	first, second, two := strings.Cut(rest, "-")
	if h.jobs == 0 {
		return !two && below(first, h.pods)
	}
	return two && below(first, h.jobs) && below(second, h.pods)
}

func below(text string, n int) bool {
	i, err := strconv.Atoi(text)
	return err == nil && i >= 0 && i < n
}

func (h hosts) String() string {
	first, last := "0", strconv.Itoa(h.pods-1)
	if h.jobs > 0 {
		first, last = "0-0", fmt.Sprintf("%d-%d", h.jobs-1, h.pods-1)
	}
	if first == last {
		return h.prefix + first
	}
	return h.prefix + first + " to " + h.prefix + last
}

// subdomain is the domain of the pods of a JobSet (v0.10.1 pkg/controllers, GetSubdomain).
func subdomain(j *job.Job) string {
	if s, ok := text(j, "spec.network.subdomain"); ok && s != "" {
		return s
	}
	return j.Source.GetName()
}
