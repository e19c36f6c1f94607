package names

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var addressOfNoPod = &check.Check{
	Name:     "address-of-no-pod",
	Title:    "the address of the first process is that of no pod",
	Remedy:   "Write the name that the operator gives the pod.",
	Severity: finding.Error, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Hosts != nil },
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		if p.Job.Source.GetName() == "" {
			return
		}
		judge := func(at job.Path, what, address string) {
			problem, unserved := noPod(p.Job, p.Operator, address)
			if problem == "" {
				return
			}
			f := finding.Finding{Path: at, Message: fmt.Sprintf("%s is %s; %s", what, facts.Quoted(address), problem)}
			switch {
			case strings.HasPrefix(problem, "it is that of another job"): // which may be meant
				f.Severity = finding.Warning
			case problem == nameless:
				f.Remedy = "Leave enableDNSHostnames out, or write the address of a service."
			case unserved: // a Service may be called as the pod is
				f.Severity = finding.Warning
				f.Remedy = "Write the subdomain, a headless Service of that name, and the address as pod.subdomain."
			}
			p.Report(f)
		}
		for r := range p.Job.EachRole() {
			if l := &r.Launch; l.RendezvousPath != "" && slices.Contains([]string{"", "static", "c10d"}, l.Backend) {
				judge(l.RendezvousPath, "the rendezvous of "+l.Program, l.Rendezvous)
			}
		}
		for r, e := range facts.EachVariable(p.Job) {
			if value, ok := facts.Literal(e.EnvVar); ok && slices.Contains(addressVariables, e.Name) && !facts.Overwritten(p.Job, r, e.In, e.Name) {
				judge(e.At, e.Name, value)
			}
		}
	},
}

// addressVariables hold where the first process listens: torch.distributed, torchrun,
// jax.distributed, and what people call them in their own programs.
var addressVariables = []string{
	"MASTER_ADDR", "MASTER_ADDRESS", "PET_MASTER_ADDR", "PET_RDZV_ENDPOINT", "RDZV_ENDPOINT",
	"COORDINATOR_ADDR", "COORDINATOR_ADDRESS", "JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_ADDR",
}

// nameless is why nothing answers where a JobSet makes no service for its pods.
const nameless = "no pod has a name while network.enableDNSHostnames is false"

// noPod says why nothing answers at an address that is meant for a pod of the job; empty
// where it is one, or means something else. unserved: the pod has that name, and nothing else knows it.
func noPod(j *job.Job, operator *kinds.Operator, address string) (why string, unserved bool) {
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "tcp://"), ":")
	name, domain, _ := strings.Cut(host, ".")
	stem, last := name, ""
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		stem, last = name[:i+1], name[i+1:]
	}
	if _, err := strconv.Atoi(last); err != nil || strings.ContainsAny(host, "$(){}<>") {
		return "", false // a service of one's own
	}
	if !strings.HasPrefix(name, j.Source.GetName()+"-") {
		return ofAnother(j, operator, stem, domain), false
	}
	var said []string
	off := j.Field("spec.network.enableDNSHostnames") == false
	for r := range j.EachRole() {
		h := operator.Hosts(j, r)
		if h == (kinds.Hosts{}) { // its pods have no names that are known before
			return "", false
		}
		if !h.Has(name) {
			said = append(said, h.String())
			continue
		}
		switch {
		case off:
			return nameless, false
		case h.Unserved != "" && h.Pods == 1: // its own host knows it
			return "", false
		case h.Unserved != "":
			return h.Unserved, true
		case h.Domain != "" && strings.SplitN(domain, ".", 2)[0] != h.Domain:
			return fmt.Sprintf("the pod's name in the network is %s.%s", name, h.Domain), false
		}
		return "", false
	}
	if off { // a job that switched the names off may have a Service of its own
		return "", false
	}
	return "the pods are called " + strings.Join(said, ", "), false
}

// ofAnother says whose pods are called otherwise where a name is of their form with another job's name in front, or is
// looked up in their own subdomain: a job was copied, and its address not changed. Empty: it may be anything.
func ofAnother(j *job.Job, operator *kinds.Operator, stem, domain string) string {
	for r := range j.EachRole() {
		h := operator.Hosts(j, r)
		after, of := strings.CutPrefix(h.Prefix, j.Source.GetName())
		if !of || h.Unserved != "" {
			continue
		}
		if h.Jobs > 0 { // there are two numbers
			stem = strings.TrimRight(strings.TrimSuffix(stem, "-"), "0123456789")
		}
		role := strings.ContainsFunc(after, unicode.IsLetter) && strings.HasSuffix(stem, after)
		if role || h.Domain != "" && strings.SplitN(domain, ".", 2)[0] == h.Domain {
			return "it is that of another job: the pods are called " + h.String()
		}
	}
	return ""
}
