package ground

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// whereAt is a place that a claim names.
var whereAt = lazy.MustCompile(`(?i)\b(?:on|in|at|of)\s+(?:the\s+)?(?:(?:pod|node|host|worker|master|container)\s+)?([\w.-]+)`)

// elsewhere says whether a claim puts something at a pod or a node where its evidence only speaks of that.
func (g *grounds) elsewhere(plain string, cites []evidence.ID) bool {
	for _, m := range whereAt.FindAllStringSubmatch(plain, -1) {
		name := strings.TrimRight(m[1], ".")
		if !slices.Contains(g.Names, name) || name == g.Job {
			continue
		}
		from, there := false, false
		for _, id := range cites {
			item := g.items[id]
			if item.Source.Pod == "" && item.Source.Node == "" {
				there = true // nobody's
				continue
			}
			from = true
			if item.Source.Pod == name || item.Source.Node == name || strings.Contains(string(id), "/"+name) {
				there = true
			}
			there = there || strings.HasPrefix(item.Text, "["+name+":") // Open MPI writes so what another member said
			for _, said := range whereAt.FindAllStringSubmatch(item.Text, -1) {
				there = there || strings.TrimRight(said[1], ".") == name
			}
		}
		if from && !there {
			return true
		}
	}
	return false
}

// inContainer is a container that a claim names.
var inContainer = lazy.MustCompile(`(?i)(?:\b(?:(?:the|an?|its|init) )*container\s+|(?:init\s*)?容器\s*)([\w-]+)|\b([\w-]+)(?: container\b|\s*容器)`)

// ofUncitedContainer says whether a claim names a container of the job that its evidence, which is of others, does not name.
func (g *grounds) ofUncitedContainer(c *claim) bool {
	return slices.ContainsFunc(inContainer.FindAllStringSubmatch(c.plain, -1), func(m []string) bool {
		named := cmp.Or(m[1], m[2])
		return g.isContainer(named) && !containsToken(c.texts, named) && !slices.ContainsFunc(c.cites, func(id evidence.ID) bool {
			of := containerOf(g.items[id])
			return of == "" || of == named
		})
	})
}

// ofOtherContainer says whether a claim that names one container says of it what was read of another of those that it cites.
func (g *grounds) ofOtherContainer(plain string, cites []evidence.ID) bool {
	named := ""
	for _, m := range inContainer.FindAllStringSubmatch(plain, -1) {
		named = cmp.Or(m[1], m[2])
	}
	var own, others []evidence.ID
	for _, id := range cites {
		switch of := containerOf(g.items[id]); {
		case of == "":
		case of == named:
			own = append(own, id)
		case containsToken(plain, of):
			return false // it speaks of both
		default:
			others = append(others, id)
		}
	}
	if len(own) == 0 || len(others) == 0 {
		return false
	}
	here, there := g.texts(own), g.texts(others)
	has, hasThere := stemsOf(here), stemsOf(there)
	return slices.ContainsFunc(tellingWords(plain), func(w string) bool { return hasThere.has(w) && !has.has(w) }) ||
		slices.ContainsFunc(hanSigns(plain), func(sign *lazy.Regexp) bool { return sign.MatchString(there) && !sign.MatchString(here) })
}

// containerOf is the container that wrote a line, or the one that its ID names: pod/POD/CONTAINER#LINE, of which an earlier life is -before-N.
func containerOf(item evidence.Item) string {
	if item.Source.Container != "" {
		return item.Source.Container
	}
	parts := strings.Split(string(item.ID), "/")
	if len(parts) < 3 || parts[0] != "pod" {
		return ""
	}
	name, _, _ := strings.Cut(parts[2], "#")
	name, _, _ = strings.Cut(name, "-before-")
	return name
}

// kindBefore is the word for what something is with the name behind it.
var kindBefore = lazy.MustCompile(`(?i)(?:\b(nodes?|hosts?|machines?|servers?|pods?|containers?)|(节点|主机|机器|容器))\s*([\w.-]+)`)

// kindBehind is a name with the word for what it is.
var kindBehind = lazy.MustCompile(`(?i)([\w.-]+)\s*(?:\b(nodes?|hosts?|pods?|containers?)\b|(节点|主机|容器))`)

// calledOtherwise says whether a claim calls by its name a node, a pod or a container what is another of these.
func (g *grounds) calledOtherwise(plain, texts string) bool {
	named, there := kindBefore.FindAllStringSubmatch(plain, -1), kindBefore.FindAllStringSubmatch(texts, -1)
	for _, m := range kindBehind.FindAllStringSubmatch(plain, -1) {
		named = append(named, []string{m[0], m[2], m[3], m[1]})
	}
	ofNode := func(m []string) bool {
		return layerOf[strings.ToLower(m[1])] == ofNode || m[2] != "" && m[2] != "容器"
	}
	return slices.ContainsFunc(named, func(m []string) bool {
		name := strings.TrimRight(m[3], ".")
		container := strings.HasPrefix(strings.ToLower(m[1]), "container") || m[2] == "容器"
		node, other := g.isNode(name), g.isContainer(name)
		pod := slices.ContainsFunc(g.Items, func(i evidence.Item) bool { return i.Source.Pod == name })
		switch {
		case name == "":
			return false
		case node || pod || other:
			return !(ofNode(m) && node || !ofNode(m) && !container && pod || container && other)
		}
		is := func(t []string) bool { return hasDigit(name) && strings.TrimRight(t[3], ".") == name }
		return slices.ContainsFunc(there, is) && !slices.ContainsFunc(there, func(t []string) bool { return is(t) && ofNode(t) == ofNode(m) })
	})
}

// addressOfRole is what members are told to find one of a role by, and no member.
var addressOfRole = lazy.MustCompile(`(?i)\bthe (?:master|launcher|chief)(?:'s)? (?:address|port|host ?name|name|URL|endpoint)\b`)

// ofRole is a member by its role, and otherRole one in evidence.
var (
	ofRole    = lazy.MustCompile(`(?i)(?:\bthe |^\W*)(master|worker|launcher|chief|evaluator)\b(?:[^-\d]|$)`)
	otherRole = lazy.MustCompile(`\b(?:master|worker|launcher|chief|evaluator)\b`)
)

// notShown says whether a claim names a member that its evidence does not, or calls a pod a node.
func (g *grounds) notShown(plain, support string) bool {
	for _, name := range g.Names {
		if name != g.Job && containsToken(plain, name) && !containsToken(support, name) {
			return true
		}
	}
	low := strings.ToLower(support)
	for _, m := range ofRole.FindAllStringSubmatch(addressOfRole.ReplaceAllString(plain, " "), -1) {
		role := strings.ToLower(m[1])
		if role == "launcher" && !slices.ContainsFunc(g.Items, func(i evidence.Item) bool {
			return strings.EqualFold(i.Source.Role, role) || strings.Contains(i.Source.Pod, role)
		}) {
			continue // the program that starts the others in each pod
		}
		if otherRole.MatchString(low) && !strings.Contains(low, role) {
			return true
		}
	}
	return false
}
