package evidence

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Own leaves out the pods of another job that had the name of this one, their logs and its events: a job that is
// made again under its name does not suffer what the one before it did.
func (b Bundle) Own() Bundle {
	if b.Job == nil || b.Job.Ref.UID == "" {
		return b
	}
	others := map[string]bool{}
	for i := range b.Pods {
		if o := metav1.GetControllerOf(&b.Pods[i]); o != nil && o.Kind == b.Job.Ref.Kind && o.Name == b.Job.Ref.Name && o.UID != "" && string(o.UID) != b.Job.Ref.UID {
			others[b.Pods[i].Name] = true
		}
	}
	for i := range b.Pods { // operators give the pods of the next job the same names
		if o := metav1.GetControllerOf(&b.Pods[i]); o != nil && string(o.UID) == b.Job.Ref.UID {
			delete(others, b.Pods[i].Name)
		}
	}
	former := func(e corev1.Event) bool {
		of := e.InvolvedObject
		return of.Kind == b.Job.Ref.Kind && of.Name == b.Job.Ref.Name && of.UID != "" && string(of.UID) != b.Job.Ref.UID
	}
	if slices.ContainsFunc(b.Events, former) {
		b.Events = slices.DeleteFunc(slices.Clone(b.Events), former)
	}
	if len(others) > 0 {
		b.Pods = slices.DeleteFunc(slices.Clone(b.Pods), func(p corev1.Pod) bool { return others[p.Name] })
		b.Logs = slices.DeleteFunc(slices.Clone(b.Logs), func(l ContainerLog) bool { return others[l.Source.Pod] })
	}
	return b
}

// Joined are the logs of a bundle, where files that are called like a pod beside them are that pod's: people
// hand over `kubectl logs POD > POD.log` and `kubectl get pods -o yaml`, and how a container ended says
// little without what it printed. A name that fits two files, or none of its containers alone, joins none. The only
// log beside the only pod, which ran once in one container, is that pod's, whatever the file is called.
func (b *Bundle) Joined() []ContainerLog {
	pods := map[string]*corev1.Pod{}
	for i := range b.Pods {
		pods[b.Pods[i].Name] = &b.Pods[i]
	}
	taken := map[Source]int{}
	out := slices.Clone(b.Logs)
	if at, p := b.only(); p != nil {
		out[at].Source.Pod, out[at].Source.Container = p.Name, containers(p)[0]
		return out
	}
	for i := range out {
		if s := sourceOfFile(&out[i], pods); s.Pod != "" {
			taken[s]++
		}
	}
	for i := range out {
		s := sourceOfFile(&out[i], pods)
		if s.Pod == "" || taken[s] > 1 {
			continue
		}
		out[i].Source.Pod, out[i].Source.Container, out[i].Source.Attempt = s.Pod, s.Container, s.Attempt
	}
	return out
}

// only is the pod of a bundle that holds one pod and one log of a file, and which log that is, if nothing says that it
// may be of another pod or life: a job beside them, a restart, a name like that of its neighbours, or another number.
func (b *Bundle) only() (at int, p *corev1.Pod) {
	logs := 0
	for i := range b.Logs {
		if !b.Logs[i].Pasted {
			at, logs = i, logs+1
		}
	}
	if len(b.Pods) != 1 || logs != 1 || b.Job != nil || b.Logs[at].Source.Pod != "" {
		return 0, nil
	}
	p = &b.Pods[0]
	if len(containers(p)) != 1 || len(p.Status.ContainerStatuses) != 1 || p.Status.ContainerStatuses[0].RestartCount > 0 {
		return 0, nil
	}
	group, file := p.Name[:strings.LastIndexByte(p.Name, '-')+1], b.Logs[at].Source.File
	if group != "" && strings.Contains(file, group) && !strings.Contains(file, p.Name) {
		return 0, nil
	}
	if n := numberIn(path.Base(file)); n != "" && n != numberIn(p.Name) {
		return 0, nil
	}
	return at, p
}

// sourceOfFile is the pod, container and life that the name of a file says it is of; no pod: it says none.
func sourceOfFile(l *ContainerLog, pods map[string]*corev1.Pod) Source {
	if l.Source.Pod != "" || l.Pasted || len(pods) == 0 {
		return Source{}
	}
	words := strings.FieldsFunc(path.Base(strings.ReplaceAll(l.Source.File, `\`, "/")), func(c rune) bool {
		return c == '.' || c == '_' || c == ' ' || c == '@' || c == ':'
	})
	s := Source{}
	var pod *corev1.Pod
	for _, word := range words {
		for _, name := range []string{word, strings.TrimPrefix(word, "log-"), strings.TrimPrefix(word, "logs-"), strings.TrimSuffix(word, "-log"), strings.TrimSuffix(word, "-previous")} {
			if p := pods[name]; p != nil {
				pod = p
			}
		}
		if word == "previous" || word == "before-1" || strings.HasSuffix(word, "-previous") {
			s.Attempt = 1
		}
	}
	if pod == nil {
		return Source{}
	}
	names := containers(pod)
	for _, name := range names {
		if len(names) == 1 || slices.Contains(words, name) {
			s.Pod, s.Container = pod.Name, name
		}
	}
	return s
}

// numberIn is the last number of a name, which tells members of a group apart; empty: there is none.
func numberIn(name string) string {
	digit := func(r rune) bool { return r >= '0' && r <= '9' }
	end := strings.LastIndexFunc(name, digit) + 1
	return name[strings.LastIndexFunc(name[:end], func(r rune) bool { return !digit(r) })+1 : end]
}

// containers are the names of a pod's containers; of one that was described in words, those that have a status.
func containers(p *corev1.Pod) (names []string) {
	for i := range p.Spec.Containers {
		names = append(names, p.Spec.Containers[i].Name)
	}
	for i := range p.Status.ContainerStatuses {
		if len(p.Spec.Containers) == 0 {
			names = append(names, p.Status.ContainerStatuses[i].Name)
		}
	}
	return names
}
