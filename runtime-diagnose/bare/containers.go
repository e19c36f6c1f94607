package bare

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// A line of several containers' logs in one text: as kubectl logs --prefix prints it, and as stern does
// (https://github.com/stern/stern, the default template without colours), whose pods are told from words by the number
// that operators end names in.
var (
	kubectlLine = regexp.MustCompile(`^\[pod/([a-z0-9][-a-z0-9.]*)/([a-z0-9][-a-z0-9]*)\] ?`)
	sternLine   = regexp.MustCompile(`^([a-z0-9][-a-z0-9.]*-[0-9]+(?:-[a-z0-9]{5})?) ([a-z][-a-z0-9]*) `)
)

// mostContainers bounds the logs that one text is taken apart into.
const mostContainers = 1024

// leastLines is how many lines in a row have to name a pod before it is believed.
const leastLines = 2

// Several says whether a text begins as the logs of several containers do: each line of it names a pod.
func Several(head []byte) bool { return lineOf(head) != nil }

// lineOf is the form of the lines of a text; nil: they name no pods.
func lineOf(head []byte) *regexp.Regexp {
	lines := bytes.Split(head, []byte("\n"))
	lines = lines[:max(0, len(lines)-1)] // the last one may be cut
	for _, form := range []*regexp.Regexp{kubectlLine, sternLine} {
		n, rises, last := 0, true, counted{at: -1}
		for _, line := range lines {
			if m := form.FindSubmatch(line); m != nil {
				n++
				next := countedIn(string(m[1]), string(m[2]))
				rises = rises && next.at > last.at && (n == 1 || next.what == last.what)
				last = next
			}
		}
		if n >= leastLines && n == len(lines) && (form == kubectlLine || !rises) {
			return form
		}
	}
	return nil
}

// counted is a name that ends in a number, with the word behind it.
type counted struct {
	what string
	at   int
}

// countedIn reads a name: lines whose numbers only rise, of one name and under one word, count steps ("step-7 loss 2.1"), and
// are no pods'.
func countedIn(name, word string) counted {
	at := strings.LastIndexByte(name, '-')
	n, err := strconv.Atoi(name[at+1:])
	if err != nil {
		return counted{name, -1}
	}
	return counted{name[:at+1] + " " + word, n}
}

// part is the log of one container, and where its lines are in the text.
type part struct {
	text    bytes.Buffer
	numbers []int
}

// Containers takes a text apart into the logs of the containers that its lines name, in the order in which they come
// first; nil: it is the log of one. A line that names none belongs to the one before it.
func Containers(file string, text []byte) []evidence.ContainerLog {
	form := lineOf(text[:min(len(text), 32<<10)])
	if form == nil {
		return nil
	}
	type of struct{ pod, container string }
	var order []of
	logs := map[of]*part{}
	var to *part
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if m := form.FindSubmatch(line); m != nil {
			key := of{string(m[1]), string(m[2])}
			if to = logs[key]; to == nil {
				if len(order) == mostContainers {
					return nil
				}
				to = &part{}
				logs[key], order = to, append(order, key)
			}
			line = line[len(m[0]):]
		}
		to.text.Write(line)
		to.numbers = append(to.numbers, n)
	}
	var out []evidence.ContainerLog
	for _, key := range order {
		held := logs[key].text.Bytes()
		out = append(out, evidence.ContainerLog{
			Source:  evidence.Source{File: file, Pod: key.pod, Container: key.container, Rank: -1},
			Numbers: logs[key].numbers,
			Open:    func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(held)), nil },
		})
	}
	return out
}
