// Package bare reads what people paste: the output of kubectl describe, kubectl get events
// and kubectl get pods, and YAML or JSON objects. It keeps, for every thing it
// understands, the line that said it, because that line is the evidence.
//
// Pasted text has lost most of what an object holds; nothing here fills the gaps. Start
// reading at Read.
package bare

import (
	"bytes"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Add adds a file of events or pods, as objects or as pasted text, to a bundle. Text is
// read as a log as well: people paste more than tables.
func Add(b *evidence.Bundle, name string, data []byte) {
	addText(b, name, data, nil, Read(name, data, b.Now))
}

// addText adds what was read of a file; numbers are those of its lines, nil: from 1 on.
func addText(b *evidence.Bundle, name string, data []byte, numbers []int, part Part) {
	b.Pods = append(b.Pods, part.Pods...)
	b.Events = append(b.Events, part.Events...)
	b.Nodes = append(b.Nodes, part.Nodes...)
	b.Objects = append(b.Objects, part.Objects...)
	for _, m := range part.Missing {
		b.Missing = append(b.Missing, name+": "+m)
	}
	if part.Text {
		b.AddLog(name, data)
		log := &b.Logs[len(b.Logs)-1]
		log.Pasted, log.Understood, log.Numbers = true, part.Understood, numbers
	}
}

// Part is what one file held.
type Part struct {
	Pods    []corev1.Pod
	Events  []corev1.Event
	Nodes   []corev1.Node
	Objects []*unstructured.Unstructured // of other kinds
	Missing []string                     // objects that do not convert to their kind, and why
	// Text says that the file was text for people, not objects: its lines are evidence too.
	Text bool
	// Understood are the numbers of the lines that became events, ascending.
	Understood []int
}

// Read reads one file. Name is what evidence will call it; now turns ages into the latest times that they
// can mean (control.OriginAge), which order the rows of one text, and may be zero, which leaves them unknown. It never fails: what it does not understand
// stays a line of text.
func Read(name string, data []byte, now time.Time) Part {
	if p, ok := readObjects(data); ok {
		return p
	}
	return readText(name, data, now, nil)
}

// readText reads a text; numbers are those of its lines, nil: from 1 on.
func readText(name string, data []byte, now time.Time, numbers []int) Part {
	t := &text{name: name, now: now, part: Part{Text: true}}
	n := 0
	for line := range bytes.Lines(data) {
		if n++; numbers == nil {
			t.number = n
		} else {
			t.number = numbers[n-1]
		}
		t.line(lineOfText(line))
	}
	t.flush()
	return t.part
}

func lineOfText(line []byte) string {
	return strings.TrimRight(strings.ToValidUTF8(string(line), "\uFFFD"), "\r\n")
}
