package diagnose

import (
	"bytes"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// AddBare adds a file of events or pods, as objects or as pasted text, to a case. Text is
// read as a log as well: people paste more than tables.
func (c *Case) AddBare(name string, data []byte) {
	part := bare.Read(name, data, c.Now)
	c.Pods = append(c.Pods, part.Pods...)
	c.Events = append(c.Events, part.Events...)
	c.Nodes = append(c.Nodes, part.Nodes...)
	c.Objects = append(c.Objects, part.Objects...)
	for _, m := range part.Missing {
		c.Missing = append(c.Missing, name+": "+m)
	}
	if part.Text {
		c.AddLog(name, data)
		log := &c.Logs[len(c.Logs)-1]
		log.Pasted, log.Understood = true, part.Understood
	}
}

// AddLog adds the log of one container, of which nothing else is known, to a case.
func (c *Case) AddLog(name string, data []byte) {
	c.Logs = append(c.Logs, Log{
		Source: evidence.Source{File: name, Rank: RankIn(name)},
		Open:   func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	})
}

var rankName = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:rank|log)[-_.]?(\d{1,5})(?:\D|$)`)

// RankIn is the rank that a log's file name tells: log-3.txt, train.rank3.log; else -1.
func RankIn(name string) int {
	m := rankName.FindStringSubmatch(path.Base(name))
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return -1
	}
	return n
}

// Adopt makes the first training job among the objects that files hold the job of the case.
func (c *Case) Adopt() {
	for _, o := range c.Objects {
		k := kinds.For(o.GroupVersionKind())
		if k == nil {
			continue
		}
		if c.Kind = k; k.State != nil {
			c.State = k.State(o)
		}
		j, err := k.Read(o, nil)
		if err != nil {
			c.Missing = append(c.Missing, "job spec: "+strings.Join(strings.Fields(err.Error()), " "))
		}
		if c.Job = j; j != nil {
			c.onlyOwn()
			return
		}
	}
}

// onlyOwn leaves out pods that their labels give to other jobs, and what happened to them:
// "kubectl get pytorchjob/a,pods -o yaml" prints the pods of everybody. Pods without a UID
// come from pasted text and stay.
func (c *Case) onlyOwn() {
	own, others := c.Kind.Select(c.Job.Ref, c.Job.Source), map[string]bool{}
	c.Pods = slices.DeleteFunc(c.Pods, func(p corev1.Pod) bool {
		others[p.Name] = p.UID != "" && !slices.ContainsFunc(own, func(s labels.Selector) bool { return s.Matches(labels.Set(p.Labels)) })
		return others[p.Name]
	})
	c.Events = slices.DeleteFunc(c.Events, func(e corev1.Event) bool {
		return e.InvolvedObject.Kind == "Pod" && others[e.InvolvedObject.Name]
	})
}
