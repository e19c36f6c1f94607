package ground

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// What is counted and measured, and who did what: each word of such a claim may stand in its evidence, and of another.

var (
	// plurals speak of several members.
	plurals = lazy.MustCompile(`(?i)\b(?:ranks|pods|workers|nodes|members|processes|replicas)\b`)
	// repeats say that something happened more than once, and repeated is what says so in evidence.
	repeats  = lazy.MustCompile(`(?i)\b(?:again|twice|repeatedly|once more|over and over|\w+ times)\b|再次|多次|反复`)
	repeated = lazy.MustCompile(`(?i)\bx\d+\b|again|twice|repeat|retr[iy]|\btimes\b|back-?off|restart|attempt|×`)
	// goesOn says that a failure was survived.
	goesOn = lazy.MustCompile(`(?i)\b(?:goes on|went on|go on|carries on|carried on|continue[sd]?|resume[sd]?|proceed(?:s|ed)?|kept (?:on )?(?:running|training)|survive[sd]?|harmless)\b|继续|恢复`)
	// stopped says that it was not.
	stopped = lazy.MustCompile(`(?i)\b(?:cannot|can['’]t|(?:can|could|did|does|do|will|would)(?: not|n['’]t)|unable to|no longer|never) (?:simply |just )?(?:go on|carry on|continue|resume|proceed|survive)\b`)
	// byPeer is what was done to the process that wrote a line, and not by it.
	byPeer = lazy.MustCompile(`(?i)\b([a-z]{3,}ed) by (?:the )?(?:remote )?(?:peer|remote|other side)\b`)
	// peerAt is the address of a peer, behind what it did.
	peerAt = lazy.MustCompile(`(?i)\bby (?:the )?(?:remote )?peer\W+([\w.:\[\]]+)`)
	// joint are words by which two things are told side by side, or one within the other.
	joint = lazy.MustCompile(`(?i)[,;:，；]|\b(?:and|while|whereas|that|which|whose|who|with|where|but|although|though)\b|和|而|且`)
)

// carriesOn is the word by which a text says that a failure was survived; empty: it does not.
func carriesOn(text string) string { return goesOn.FindString(stopped.ReplaceAllString(text, " ")) }

// several says why a claim that speaks of several members, or of several times, is not of its evidence.
func (g *grounds) several(plain, support string, cites []evidence.ID) Reason {
	if repeats.MatchString(plain) && !repeated.MatchString(support) {
		return Number
	}
	pods := map[string]bool{}
	for _, id := range cites {
		pods[g.items[id].Source.Pod] = true
	}
	if len(pods) > 1 || pods[""] {
		return ""
	}
	low := strings.ToLower(support)
	for _, w := range plurals.FindAllString(plain, -1) {
		if !strings.Contains(low, strings.ToLower(w)) && !numbersBefore(plain, w) {
			return Number
		}
	}
	return ""
}

// numbersBefore says whether a plural is counted or listed: that is looked up elsewhere.
func numbersBefore(plain, w string) bool {
	before, after, _ := strings.Cut(plain, w)
	words := strings.Fields(before)
	if len(words) > 0 && (strings.EqualFold(words[len(words)-1], "other") || numbers.MatchString(words[len(words)-1]) || numberWords[strings.ToLower(words[len(words)-1])] != "") {
		return true
	}
	return len(after) > 1 && after[0] == ' ' && '0' <= after[1] && after[1] <= '9'
}

// ownDoing says whether a claim makes the process that wrote a line do what the line says its peer did.
func (g *grounds) ownDoing(plain string, cites []evidence.ID) bool {
	for _, id := range cites {
		item := g.items[id]
		for _, m := range peerAt.FindAllStringSubmatch(item.Text, -1) {
			for _, n := range digitsOf.FindAllString(m[1], -1) {
				if ok, _ := regexp.MatchString(`(?i)\b`+regexp.QuoteMeta(n)+` of (?:pod |node |the )?(?:`+regexp.QuoteMeta(cmp.Or(item.Source.Pod, "·"))+`|`+regexp.QuoteMeta(cmp.Or(item.Source.Node, "·"))+`|rank `+cmp.Or(g.rankOf(item), "·")+`)\b`, plain); ok {
					return true
				}
			}
		}
		for _, m := range byPeer.FindAllStringSubmatch(item.Text, -1) {
			for _, who := range []string{regexp.QuoteMeta(item.Source.Pod), regexp.QuoteMeta(item.Source.Node), "rank " + g.rankOf(item)} {
				if who == "" || who == "rank " {
					continue
				}
				if ok, _ := regexp.MatchString(`(?i)\b`+who+` (?:(?:had|has|then|itself) )*(?:`+regexp.QuoteMeta(m[1])+` (?:the|its|a|an|this|that|connection|rank|[\w-]*\d)|关闭了|断开了)|\b`+regexp.QuoteMeta(m[1])+` by (?:the )?(?:peer )?`+who+`\b`, plain); ok {
					return true
				}
			}
		}
	}
	return false
}

// rounded says whether a number is another one without what stands behind its point.
func rounded(n, of string) bool {
	return value(n) == value(of) || !strings.Contains(n, ".") && strings.Contains(of, ".") && value(of) > 10 && math.Abs(value(n)-value(of)) < 1
}

var digitsOf = lazy.MustCompile(`\d+(?:\.\d+)?`)

// perReason is how many nodes a scheduler refuses for one reason: 2 Insufficient cpu.
var perReason = lazy.MustCompile(`\b(\d+) ((?:Insufficient|node\(s\)) (?:[^,.\n]|\.\w)+)`)

// ofSomeNodes says whether a clause of a claim says of all nodes what refuses a pod on some of them.
func ofSomeNodes(plain, support string) bool {
	all := ofAll.FindStringSubmatch(support)
	if all == nil {
		return false
	}
	return slices.ContainsFunc(clauseMark.Split(plain, -1), func(clause string) bool {
		low := strings.ToLower(clause)
		return universals.MatchString(clause) && slices.ContainsFunc(perReason.FindAllStringSubmatch(support, -1), func(m []string) bool {
			return m[1] != all[2] && slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(m[2]), func(r rune) bool { return !unicode.IsLetter(r) }), func(w string) bool {
				return len(w) > 2 && !plainWords[w] && !ofRefusal[w] && strings.Contains(low, w)
			})
		})
	})
}

// ofRefusal are words of what a scheduler writes that say of no resource that it is short.
var ofRefusal = words("insufficient nvidia com node had pod that not the didn match untolerated taint")
