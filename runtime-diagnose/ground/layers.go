package ground

import (
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A device, the node that it is in and the pod that uses it are three things, and a line tells of one of them: a GPU that ran out of memory leaves its node
// and its pod with plenty. The words for them stand in every explanation, so that none of them is looked for elsewhere. Here the subject of each
// part of a claim is: the line that tells what became of it has to speak of what is of the same layer.

type layer int

const (
	noLayer layer = iota
	ofDevice
	ofProcessor
	ofNode
	runs // what runs on a node: a pod, its container, a process
	ofFramework
	ofPlatform
)

// layerOf are the layers by the words for them.
var layerOf = func() map[string]layer {
	out := map[string]layer{}
	for l, names := range map[layer]string{
		ofDevice:    "gpu gpus cuda card cards device devices accelerator accelerators",
		ofProcessor: "cpu cpus core cores",
		ofNode:      "node nodes host hosts machine machines server servers",
		runs:        "pod pods container containers process processes job jobs run program script trainer training worker workers rank ranks master launcher leader head replica replicas member members index",
		ofFramework: "pytorch torch tensorflow ray jax horovod deepspeed vllm megatron accelerate lightning mpi mpirun nccl gloo",
		ofPlatform:  "scheduler kubelet cluster kueue volcano kernel operator",
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] = l
		}
	}
	return out
}()

var (
	// partOfNode is what a line of a node speaks of that is less than the node.
	partOfNode = lazy.MustCompile(`(?i)\b(?:gpus?|nvrm|xid|cpu\d*|core|ports?|links?|pid|process|task|name=|nvme\w*|sd[a-z]|disks?|eth\d|mlx\w*|ib\d|memory cgroup|dimm\w*)\b`)
	nodeWord   = lazy.MustCompile(`(?i)\b(?:nodes?|hosts?|machines?|servers?)\b|\bNode[A-Z]|[a-z]Node|(?:Disk|Memory|PID)Pressure`)
	unitWord   = lazy.MustCompile(`(?i)\b(?:pods?|containers?|process(?:es)?|tasks?|jobs?|workers?|ranks?|actors?|mpirun)\b`)
	partOfUnit = lazy.MustCompile(`(?i)\b(?:gpus?|nvrm|xid|cuda(?:error)?|hip|cublas\w*|cudnn\w*|ports?|links?)\b|CUDA|NVRM`)
	// jobWord is the job as a whole, and takenFrom what befalls one of its members.
	jobWord   = lazy.MustCompile(`(?i)\b(?:jobs?|workloads?|runs?)\b|[a-z]Job\b|Backoff|Deadline`)
	takenFrom = lazy.MustCompile(`(?i)\b(?:oomkilled|evicted|preempted|memory)\b`)
	// turnsAside stands before what is no subject.
	turnsAside = words("of on in at from for by with to inside under behind after before because when while until since than per via against about as if")
	anyDevice  = lazy.MustCompile(`(?i)\b(?:device|disk|volume)s?\b`)
	inParens   = lazy.MustCompile(`\([^()]*\)`)
	// saidOf is of whom the rules say something, and where that is.
	saidOf = lazy.MustCompile(`^[\w.-]+ \([^)]*\): `)
)

// layerOfWord is the layer that a word or a name is of; owns says that it is said of something of it: the pod's.
func (g *grounds) layerOfWord(w string) (of layer, name, owns bool) {
	w = strings.TrimSuffix(strings.Trim(w, ".,:;()*`_\"'{}[]"), "(s")
	bare, owns := strings.CutSuffix(strings.TrimSuffix(w, "’s"), "'s")
	switch {
	case slices.Contains(g.members, bare) || g.isContainer(bare):
		return runs, true, owns || w != bare
	case g.isNode(bare):
		return ofNode, true, owns || w != bare
	}
	return layerOf[strings.TrimRight(strings.ToLower(bare), "0123456789")], false, owns || w != bare
}

// isContainer says whether a name is that of a container that wrote or did something.
func (g *grounds) isContainer(name string) bool {
	return name != "" && slices.ContainsFunc(g.Items, func(i evidence.Item) bool { return containerOf(i) == name })
}

// subjectOf is the layer of the subject of a part of a claim, and what is said of it.
func (g *grounds) subjectOf(part string) (of layer, said string) {
	words, owned := strings.Fields(part), false
	for i, w := range words {
		is, name, owns := g.layerOfWord(w)
		low := strings.ToLower(w)
		switch {
		case is != noLayer:
			if of == noLayer || owned || !name { // a name behind the word for what it is
				of = is
			}
			owned = owns
		case of != noLayer && (owned || !hasDigit(low)):
			return of, strings.Join(words[i:], " ")
		case of == noLayer && (turnsAside[low] || toBe[low] || strings.HasSuffix(low, "ed")):
			return noLayer, ""
		}
	}
	return of, ""
}

// subjectIn is the layer of what a line tells first of what is told, as the word for it stands before that in its clause.
func (g *grounds) subjectIn(line string, told []string) layer {
	words := strings.Fields(line)
	said := stems{}
	for _, w := range told {
		if said[stem(w)] = true; units[w] != 0 {
			delete(said, stem(w))
		}
	}
	first := slices.IndexFunc(words, func(w string) bool { return said.has(strings.Trim(w, ".,:;()'\"")) })
	for i := first - 1; i >= 0 && !strings.ContainsAny(words[i][len(words[i])-1:], ".,;"); i-- {
		if of, _, _ := g.layerOfWord(words[i]); of != noLayer && of < ofFramework {
			return of
		}
	}
	return noLayer
}

// hanNodes and hanUnits are a node, and what runs on one, in Chinese; hanMemory is that of a node.
var (
	hanNodes  = lazy.MustCompile(`(?:^|[^主作])(?:节点|主机|机器)`)
	hanUnits  = lazy.MustCompile(`容器|进程`)
	hanMemory = lazy.MustCompile(`内存`)
	// ofNodesMemory is what a line has that tells of it.
	ofNodesMemory = lazy.MustCompile(`(?i)\b(?:ram|oomkill\w*|cgroups?|hosts?|nodes?|containers?|system)\b`)
)

// sameLayers says whether a part of a claim speaks of a node where a line does, and of what runs on one where it does: of what both call by its name
// is told elsewhere.
func (g *grounds) sameLayers(part, line string) bool {
	line = g.withoutKinds(line) // on which node a member is tells nothing of the node
	node, unit := nodeNoun.MatchString(line), unitNoun.MatchString(line)
	if hanMemory.MatchString(part) && !graphics.MatchString(part) && graphics.MatchString(line) && !ofNodesMemory.MatchString(line) {
		return false
	}
	if node == unit {
		return true
	}
	part = g.withoutNames(g.withoutKinds(part))
	if node {
		return !unitNoun.MatchString(part) && !hanUnits.MatchString(part)
	}
	return !nodeNoun.MatchString(part) && !hanNodes.MatchString(part)
}

// nodeNoun is a node that a text speaks of, and unitNoun what runs on one.
var (
	nodeNoun = lazy.MustCompile(`(?i)\b(?:nodes?|hosts?|machines?)\b`)
	unitNoun = lazy.MustCompile(`(?i)\b(?:pods?|containers?|process(?:es)?)\b`)
)

// withoutKinds is a part of a claim without the names in it, and the words for what these are.
func (g *grounds) withoutKinds(part string) string {
	for _, of := range []*lazy.Regexp{kindBefore, kindBehind} {
		part = of.ReplaceAllStringFunc(part, func(m string) string {
			if strings.ContainsFunc(m, func(r rune) bool { return r < 0x80 }) && slices.ContainsFunc(strings.Fields(m), func(w string) bool {
				w = strings.TrimRight(w, ".")
				return w != "" && g.isNode(w) || g.isContainer(w) || slices.Contains(g.members, w)
			}) {
				return " "
			}
			return m
		})
	}
	return part
}

// ofAnother says whether a line says of something that a claim does not name what the claim says its subject to be: an address that is in use makes
// no pod so.
func ofAnother(line, said string, told []string, body string) bool {
	is, _, _ := strings.Cut(said, " ")
	words := strings.Fields(line)
	first := slices.IndexFunc(words, func(w string) bool {
		return !strings.HasSuffix(w, ":") && slices.ContainsFunc(told, func(t string) bool { return stem(t) == stem(strings.Trim(w, ".,:;()'\"")) })
	})
	if !toBe[is] || first < 0 {
		return false
	}
	has := stemsOf(strings.ReplaceAll(body, "_", " "))
	if first+1 < len(words) && strings.HasSuffix(words[first], "ed") { // pulled image: that is what was pulled
		if w := strings.ToLower(words[first+1]); letters(w) && !neutral[w] && !holding[w] && !turnsAside[w] {
			return !has.has(w)
		}
	}
	for i := first - 1; i >= 0 && !strings.ContainsAny(words[i][len(words[i])-1:], ".,;:"); i-- {
		w := strings.ReplaceAll(strings.ToLower(words[i]), "_", "")
		if letters(w) && !neutral[w] && !holding[w] {
			return !has.has(w) && !strings.Contains(body, words[i])
		}
	}
	return false
}

// mentions says whether a text has a word or a name of a layer.
func (g *grounds) mentions(text string, of layer) bool {
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '/' }), func(w string) bool { is, _, _ := g.layerOfWord(w); return is == of })
}

// layered is a line of evidence with what it is of.
type layered struct {
	text   string
	id     string
	ofNode bool // it is of a node
	ofUnit bool // it is the platform's, of how a pod and its container are
}

func (g *grounds) layers(cites []evidence.ID) (out []layered) {
	for _, id := range cites {
		at := string(id)
		for line := range strings.Lines(g.items[id].Text) {
			out = append(out, layered{line, at, strings.HasPrefix(at, "node/"), !strings.HasPrefix(at, "node/") && !strings.Contains(at, "#") || strings.HasPrefix(at, "event/")})
		}
	}
	if g.ofRoot(cites) {
		for line := range strings.Lines(g.Says) {
			out = append(out, layered{text: saidOf.ReplaceAllString(line, "")})
		}
	}
	return out
}

// otherLayer says whether a claim tells of one layer what its evidence tells of another.
func (g *grounds) otherLayer(c *claim) bool {
	lines := g.layers(c.cites)
	for _, part := range parts.Split(inParens.ReplaceAllString(g.withoutContrast(c.unquoted, c.cites), " "), -1) {
		of, said := g.subjectOf(part)
		if of == noLayer {
			continue
		}
		told := tellingWords(said)
		if len(told) == 0 && c.unquoted != c.body {
			continue // it quotes what it says
		}
		bearing := slices.DeleteFunc(slices.Clone(lines), func(l layered) bool {
			has := stemsOf(l.text)
			return !slices.ContainsFunc(told, has.has)
		})
		if len(bearing) == 0 {
			bearing = lines
		}
		if !slices.ContainsFunc(bearing, func(l layered) bool {
			is := g.subjectIn(l.text, told)
			return (is == noLayer || is == of || of >= ofFramework || g.mentions(c.body, is)) && !ofAnother(l.text, said, told, c.body) && g.speaksOf(l, of, part, c.body)
		}) {
			return true
		}
	}
	return false
}

// speaksOf says whether a line tells of what is of a layer.
func (g *grounds) speaksOf(l layered, of layer, part, body string) bool {
	text := g.withoutNames(l.text)
	switch of {
	case ofDevice:
		return devices.MatchString(withoutSystemErrors(strings.ToLower(text))) || !graphics.MatchString(part) && anyDevice.MatchString(text)
	case ofProcessor:
		return processor.MatchString(text) || partOfNode.MatchString(text) && strings.Contains(strings.ToLower(text), "cpu")
	case ofNode:
		return nodeWord.MatchString(text) || l.ofNode && !(strings.Contains(l.id, "/kernel") && partOfNode.MatchString(text))
	case runs:
		if jobWord.MatchString(g.withoutNames(part)) && takenFrom.MatchString(part) && !jobWord.MatchString(text) {
			return false // a container's limit is not the job's
		}
		if l.ofUnit || unitWord.MatchString(text) {
			return true
		}
		return !l.ofNode && (!partOfUnit.MatchString(text) || partOfUnit.MatchString(body))
	case ofFramework, ofPlatform:
		low := strings.ToLower(l.text + " " + l.id)
		return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(part), func(r rune) bool { return !unicode.IsLetter(r) }), func(w string) bool {
			return layerOf[w] == of && (strings.Contains(low, w) || w == "kubelet" && l.ofUnit)
		})
	case noLayer:
	}
	return true
}
