package ground

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// Members of a gang are called by a part of their names, by their numbers, in lists and in ranges. What is said of a list is said of each of it.

// numbersOfMembers is a list of pods or workers by their numbers: pods 0, 1 and 10-12.
var numbersOfMembers = lazy.MustCompile(`(?i)(loaders?\s+)?\b(pods?|workers|masters|launchers)\s+(\d+(?:(?:\s*(?:,|，|、|-|–)\s*|\s*(?:,\s*)?(?:and|to|through|&|和|到)\s*)\d+)*)\b`)

// theRole is the only member of a role by that, and no address of it.
var theRole = lazy.MustCompile(`\b[Tt]he (master|launcher)(\s*(?:[,.;:)(]|$|and\b|or\b|at\b|on\b|after\b|had\b|has\b|was\b|is\b|then\b|also\b|[a-z]+ed\b|lost\b|saw\b|ran\b|[\[\d]))`)

// fromTo are the numbers between two others.
var fromTo = lazy.MustCompile(`(\d+)\s*(?:-|–|to|through|到)\s*(\d+)`)

// mostListed bounds the members of a range.
const mostListed = 64

// listed are the numbers of a list, with those within its ranges.
func listed(list string) (out []string) {
	list = fromTo.ReplaceAllStringFunc(list, func(m string) string {
		of := fromTo.FindStringSubmatch(m)
		from, _ := strconv.Atoi(of[1])
		to, _ := strconv.Atoi(of[2])
		if to < from || to-from >= mostListed {
			return m
		}
		var all []string
		for n := from; n <= to; n++ {
			all = append(all, strconv.Itoa(n))
		}
		return strings.Join(all, ", ")
	})
	return digitsOf.FindAllString(list, -1)
}

// inNames writes the members that a claim calls by the end of their names or by their numbers with their whole names, where only one is meant:
// worker-9, pods 10-12. What is looked up of a name is looked up of them then.
func (g *grounds) inNames(body string) string {
	out, ok := g.named[body]
	if !ok {
		out = g.withNames(body)
		g.named[body] = out
	}
	return out
}

func (g *grounds) withNames(body string) string {
	members := g.members
	if len(members) == 0 {
		return body
	}
	one := func(is func(name string) bool) string {
		at := slices.IndexFunc(members, is)
		if at < 0 || slices.ContainsFunc(members[at+1:], func(n string) bool { return n != members[at] && is(n) }) {
			return ""
		}
		return members[at]
	}
	body = wordShape.ReplaceAllStringFunc(body, func(w string) string {
		short := strings.TrimRight(w, ".:,-/=~+@")
		if !strings.Contains(short, "-") || slices.Contains(g.Names, short) {
			return w
		}
		if name := one(func(n string) bool { return strings.HasSuffix(n, "-"+short) }); name != "" {
			return name + w[len(short):]
		}
		return w
	})
	body = theRole.ReplaceAllStringFunc(body, func(m string) string {
		of := theRole.FindStringSubmatch(m)
		if name := one(func(n string) bool { return strings.Contains(n, "-"+of[1]+"-") }); name != "" {
			return name + of[2]
		}
		return m
	})
	return numbersOfMembers.ReplaceAllStringFunc(body, func(m string) string {
		of := numbersOfMembers.FindStringSubmatch(m)
		role := strings.TrimSuffix(strings.ToLower(of[2]), "s")
		if of[1] != "" {
			return m // of a data loader
		}
		var names []string
		for _, n := range listed(of[3]) {
			name := one(func(name string) bool {
				parts := strings.Split(name, "-")
				at := slices.IndexFunc(parts, digitsOnly)
				return at > 0 && parts[at] == n && !slices.ContainsFunc(parts[at+1:], digitsOnly) && (role == "pod" || parts[at-1] == role)
			})
			if name == "" {
				return m
			}
			names = append(names, name)
		}
		if len(names) > 1 {
			return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
		}
		return strings.Join(names, "")
	})
}

// withAlike are what a claim cites, and with it the same words of the other members that it names.
func (g *grounds) withAlike(body string, cites []evidence.ID) []evidence.ID {
	if len(cites) == 0 {
		return cites
	}
	body = g.inNames(inDigits(body))
	out := cites
	for _, name := range g.members {
		if !containsToken(body, name) || slices.ContainsFunc(cites, func(id evidence.ID) bool { return g.items[id].Source.Pod == name }) {
			continue
		}
		for _, item := range g.Items {
			if item.Source.Pod == name && slices.ContainsFunc(cites, func(id evidence.ID) bool { return g.items[id].Text == item.Text && item.Text != "" }) {
				out = append(slices.Clip(out), item.ID)
				break
			}
		}
	}
	return out
}

// oneRank is a member by its rank.
var oneRank = lazy.MustCompile(`(?i)\brank (\d+)\b`)

// ranksInNames is a claim with the names of the pods that it calls by their ranks.
func (g *grounds) ranksInNames(plain string) string {
	if len(g.ranks) == 0 {
		return plain
	}
	return oneRank.ReplaceAllStringFunc(plain, func(m string) string {
		for _, pod := range g.members {
			if g.ranks[pod] == oneRank.FindStringSubmatch(m)[1] {
				return pod
			}
		}
		return m
	})
}

// inLists is what stands between two names of a list.
var inLists = lazy.MustCompile(`^(?:\s*[,，、/&]\s*(?:and |和)?|\s*(?:and|as well as|和|与|及|以及)\s*)$`)

// ofListed says whether a claim says of a member, alone or in a list, what its evidence says of another that the claim does not name; and apart
// whether it says of one in a list what only others of that list were read to say.
func (g *grounds) ofListed(plain string, cites []evidence.ID) Reason {
	if len(cites) < 2 {
		return ""
	}
	names := g.namedIn(plain)
	var ofNamed, ofRest []evidence.ID
	for _, id := range cites {
		if pod := g.items[id].Source.Pod; pod != "" && ofRank(plain, cmp.Or(g.rankOf(g.items[id]), "·")) || slices.ContainsFunc(names, func(at []int) bool { return plain[at[0]:at[1]] == pod }) {
			ofNamed = append(ofNamed, id)
		} else if pod != "" {
			ofRest = append(ofRest, id)
		}
	}
	whole := g.support(ofNamed) + g.support(ofRest)
	inWhole := vocabulary(whole)
	for at := 0; at < len(names); {
		end := at + 1
		for end < len(names) && inLists.MatchString(plain[names[end-1][1]:names[end][0]]) {
			end++
		}
		list := names[at:end]
		at = end
		head, tail := plain[:list[0][0]], plain[list[len(list)-1][1]:]
		if m := parts.FindAllStringIndex(head, -1); m != nil {
			head = head[m[len(m)-1][1]:]
		}
		if m := parts.FindStringIndex(tail); m != nil {
			tail = tail[:m[0]]
		}
		for _, of := range []*lazy.Regexp{forward, backward} {
			if w := connectives(of, head, false); w != nil {
				head = head[w[len(w)-1].to:]
			}
			if w := connectives(of, tail, false); w != nil {
				tail = tail[:w[0].from]
			}
		}
		of := head + " | " + tail
		var said []string
		for _, w := range looked(of) {
			if holds(whole, w) {
				said = append(said, w)
			}
		}
		for _, w := range content(strings.ReplaceAll(of, "-", " ")) {
			if inWhole(w) && !plainWords[w] {
				said = append(said, w)
			}
		}
		notIn := func(said []string, support string) []string {
			has := vocabulary(support)
			return slices.DeleteFunc(slices.Clone(said), func(w string) bool {
				if hasDigit(w) || w != strings.ToLower(w) {
					return holds(support, w)
				}
				return has(w)
			})
		}
		for _, n := range list {
			var own []evidence.ID
			for _, id := range ofNamed {
				if g.items[id].Source.Pod == plain[n[0]:n[1]] {
					own = append(own, id)
				}
			}
			if len(own) == 0 {
				continue
			}
			lacks := notIn(said, g.support(own))
			switch {
			case len(lacks) == 0:
			case slices.ContainsFunc(slices.Concat(ofRest, ofNamed), func(id evidence.ID) bool {
				return len(notIn(lacks, g.texts([]evidence.ID{id})+restated(g.items[id].Text))) == 0
			}):
				return Member
			case len(list) > 1:
				return Apart
			}
		}
	}
	return ""
}

// misplaced says whether a claim has a pod run on another node than the platform says.
func (g *grounds) misplaced(plain string) bool {
	for part := range strings.SplitSeq(parts.ReplaceAllString(plain, " | "), "|") {
		for _, m := range onNode.FindAllStringSubmatchIndex(part, -1) {
			node := strings.TrimRight(part[m[2]:m[3]], ".")
			if !slices.Contains(g.Names, node) {
				continue
			}
			nearest, pod := -1, ""
			for name := range g.nodes {
				if i := strings.LastIndex(part[:m[0]], name); i > nearest && containsToken(part[:m[0]], name) {
					nearest, pod = i, name
				}
			}
			if is := g.nodes[pod]; is != "" && is != several && is != node && g.isNode(node) {
				return true
			}
		}
	}
	return false
}

// isNode says whether a name is that of a node on which a member was.
func (g *grounds) isNode(name string) bool {
	return slices.ContainsFunc(g.Items, func(i evidence.Item) bool { return i.Source.Node == name })
}

// nodesOf are the nodes of pods; a pod of one name may have been on several.
func nodesOf(items []evidence.Item) map[string]string {
	out := map[string]string{}
	for _, i := range items {
		switch pod, node := i.Source.Pod, i.Source.Node; {
		case pod == "" || node == "":
		case out[pod] == "" || out[pod] == node:
			out[pod] = node
		default:
			out[pod] = several
		}
	}
	return out
}

// several is what stands for one of which there are more.
const several = "several"

// onNode is a node that something is said to be on.
var onNode = lazy.MustCompile(`(?i)(?:\b(?:on|at)\s+|[(（]\s*(?:on\s+)?|(?:运行)?(?:在|于)\s*)(?:the )?(?:node\s+|host\s+|节点\s*)?([\w.-]+)`)

// membersOf are the pods of the job.
func membersOf(s Shown) []string {
	nodes := map[string]bool{}
	for _, item := range s.Items {
		nodes[item.Source.Node] = true
	}
	out := slices.DeleteFunc(slices.Clone(s.Names), func(n string) bool { return n == "" || n == s.Job || nodes[n] })
	slices.Sort(out)
	return slices.Compact(out)
}

// referredTo is what others tell of a member: its failure, that they wait for it.
var referredTo = lazy.MustCompile(`(?i)\b(?:rank (\d+)|([\w.-]+))['’]s? (?:exit|failure|crash|death|end|loss|termination|departure|error|eviction|removal|absence)\b|\b(?:exit|failure|crash|death|loss|termination|departure|error|eviction|removal|absence) of (?:the )?(?:rank (\d+)|([\w.-]*\w))\b|` +
	`\bwait(?:s|ed|ing)? (?:in \S+ )?(?:in vain )?for (?:the )?(?:rank (\d+)|([\w.-]*\w))\b`)

// tellsOfOwn says whether a claim names a member of what it cites, and no other in one list with it: what is said of a list is said of each of it.
func (g *grounds) tellsOfOwn(plain string, cites []evidence.ID) bool {
	support, own := g.support(cites), false
	for _, m := range ranksOfClaim(plain) {
		ranks := listed(m.list)
		others := len(slices.DeleteFunc(slices.Clone(ranks), func(n string) bool { return ofRank(support, n) }))
		if own = own || others < len(ranks); others > 0 && others < len(ranks) {
			return false
		}
	}
	named := g.namedIn(plain)
	for i, at := range named {
		is := containsToken(support, plain[at[0]:at[1]])
		if i > 0 && inLists.MatchString(plain[named[i-1][1]:at[0]]) {
			return false
		}
		own = own || is
	}
	return own
}

// namedIn are the places where a claim has names of members.
func (g *grounds) namedIn(plain string) (names [][]int) {
	for _, n := range g.members {
		for from := 0; ; {
			i := strings.Index(plain[from:], n)
			if i < 0 {
				break
			}
			i += from
			from = i + len(n)
			if (i == 0 || !wordRune(rune(plain[i-1])) && plain[i-1] != '-') && (from == len(plain) || !wordRune(rune(plain[from])) && plain[from] != '-') {
				names = append(names, []int{i, from})
			}
		}
	}
	slices.SortFunc(names, func(a, b []int) int { return a[0] - b[0] })
	return names
}

// ofOtherSubject says whether a claim is about a member, by its first word, that wrote nothing of what it cites, where others did.
func (g *grounds) ofOtherSubject(c *claim) bool {
	named := g.namedIn(c.plain)
	return len(named) > 0 && strings.TrimSpace(c.plain[:named[0][0]]) == "" && !slices.ContainsFunc(c.cites, func(id evidence.ID) bool {
		pod := g.items[id].Source.Pod
		return pod == "" || pod == c.plain[named[0][0]:named[0][1]]
	})
}

// absent is a word by which a member is said not to be there.
var absent = lazy.MustCompile(`(?i)\b(?:missing|absent|nobody|none|never|nowhere|lack(?:s|ing)?|no (?:pod|process|member|worker|one))\b|缺少|没有`)

// ofAbsent says whether a claim is about a rank that no member has, where all are known, and says so: no line is of that.
func (g *grounds) ofAbsent(plain string) bool {
	known := slices.DeleteFunc(slices.Collect(maps.Values(g.ranks)), func(rank string) bool { return rank == several })
	return len(known) > 1 && len(known) == len(g.members) && absent.MatchString(plain) && slices.ContainsFunc(ranksOfClaim(plain), func(m ranksNamed) bool {
		return !slices.ContainsFunc(listed(m.list), func(n string) bool { return slices.Contains(known, n) })
	})
}

// namesFound says whether a claim names the member that the rules found, and nobody else that its evidence is not of.
func (g *grounds) namesFound(plain string) bool {
	found := g.support(g.Root[:min(mostRoots, len(g.Root))])
	return !g.notShown(plain, found) && ofMembers(plain, found)
}

// withFound holds a claim that tells of a member of its evidence, and names another beside it, against what the rules found as well: who waits, waits
// for somebody. It is not what the cited evidence says alone.
func (g *grounds) withFound(c *claim) {
	if len(g.Root) == 0 || g.ofRoot(c.cites) {
		return
	}
	c.cites = slices.Concat(c.cites, g.Root[:min(mostRoots, len(g.Root))])
	for _, id := range g.Effects[:min(mostListed, len(g.Effects))] { // and those of the members that it names
		if of := g.items[id].Source; of.Pod != "" && containsToken(c.plain, of.Pod) || ofRank(c.plain, cmp.Or(g.rankOf(g.items[id]), "·")) {
			c.cites = append(c.cites, id)
		}
	}
	c.support, c.texts, c.elsewhere = g.support(c.cites), g.texts(c.cites), true
}

// withoutRoot is a claim without the member that the rules found, as a form speaks of it.
func (g *grounds) withoutRoot(plain string, form *lazy.Regexp) string {
	found := g.support(g.Root)
	return form.ReplaceAllStringFunc(plain, func(m string) string {
		for i, of := range form.FindStringSubmatch(m)[1:] {
			if of != "" && (i%2 == 0 && ofRank(found, of) || i%2 == 1 && slices.Contains(g.Names, of) && containsToken(found, of)) {
				return " "
			}
		}
		return m
	})
}
