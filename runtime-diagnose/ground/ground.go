// Package ground decides what of a model's text may be shown: claims that the evidence they cite
// supports, and steps that the rules offered or that only read. Everything else is dropped, counted,
// and the count says why.
//
// Support is judged by rules: every quotation, number, pod, rank, node, host, path and time of a claim
// stands in the items that it cites; what it is about is what they are about; it does not turn them
// round, nor the verdict, nor cause and consequence; it orders nothing. Nothing that is kept can change
// a finding: the rules' fields are not among the values. Start reading at Keep.
package ground

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Shown is what a model was shown, and what its claims are held against.
type Shown struct {
	Items []evidence.Item // with the IDs that stood in the prompt
	// Says is what the rules say of the cause, and Root what they cite for it: a claim that cites one of these
	// may say as much.
	Says string
	Root []evidence.ID
	// Effects are what the rules cite for consequences.
	Effects        []evidence.ID
	Job, Namespace string
	Names          []string // of the job, its pods and their nodes: what a read-only command may be about
	Remedies       []string // the steps of the rules, in order
	Healthy        bool     // the verdict
}

// Kept is what remains of an answer.
type Kept struct {
	Error, Analysis, Solution string         // sentences with their citations; empty where none is left
	Cites                     []evidence.ID  // in the order they are first cited
	Sentences                 int            // in all
	Dropped                   int            // of them
	Why                       map[Reason]int // why they were dropped
}

// Reason is why a sentence is not shown.
type Reason string

// The reasons.
const (
	NoCitation  Reason = "no evidence for it"
	Invented    Reason = "cites what was not shown"
	Quotation   Reason = "quotes what its evidence does not hold"
	Number      Reason = "a number that its evidence does not hold"
	Name        Reason = "a name that its evidence does not hold"
	Member      Reason = "a rank that its evidence is not of"
	Topic       Reason = "about something else than its evidence"
	Contradicts Reason = "contradicts the finding"
	Reversed    Reason = "turns cause and consequence round"
	Order       Reason = "orders something"
	Command     Reason = "a command or an address"
	NotOffered  Reason = "a step that the rules do not offer"
	TooLong     Reason = "no room"
)

// MaxText is how many bytes of each part are kept; annotations hold 8 KiB in all.
const MaxText = 1200

// mostSentences is how many sentences of one answer are looked at: what a model is asked for has ten.
const mostSentences = 64

// Keep holds the parsed answer against what the model was shown.
func Keep(a Answer, s Shown) Kept {
	g := newGrounds(s)
	k := Kept{Error: g.part(a.Error), Analysis: g.part(a.Analysis), Solution: g.steps(a.Solution)}
	k.Cites, k.Sentences, k.Dropped, k.Why = g.cites, g.sentences, g.dropped, g.why
	return k
}

// Text is the kept answer in lines, for people.
func (k Kept) Text() string {
	var lines []string
	for _, part := range []struct{ name, text string }{{"Error: ", k.Error}, {"Analysis: ", k.Analysis}, {"Solution: ", k.Solution}} {
		if part.text != "" {
			lines = append(lines, part.name+part.text)
		}
	}
	return strings.Join(lines, "\n")
}

// LeftOut says how much was dropped and why, the most frequent reason first; empty where nothing was.
func (k Kept) LeftOut() string {
	if k.Dropped == 0 {
		return ""
	}
	reasons := slices.SortedFunc(maps.Keys(k.Why), func(a, b Reason) int {
		return cmp.Or(cmp.Compare(k.Why[b], k.Why[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, r := range reasons {
		parts = append(parts, fmt.Sprintf("%d %s", k.Why[r], r))
	}
	return fmt.Sprintf("%d of %d sentences left out: %s", k.Dropped, k.Sentences, strings.Join(parts, "; "))
}

type grounds struct {
	Shown
	items     map[evidence.ID]evidence.Item
	cites     []evidence.ID
	why       map[Reason]int
	sentences int
	dropped   int
}

func newGrounds(s Shown) *grounds {
	g := &grounds{Shown: s, items: map[evidence.ID]evidence.Item{}}
	for _, item := range s.Items {
		item.Text = Clean(item.Text)
		g.items[item.ID] = item
	}
	return g
}

func (g *grounds) drop(why Reason) {
	g.dropped++
	if g.why == nil {
		g.why = map[Reason]int{}
	}
	g.why[why]++
}

// part is what is left of claims.
func (g *grounds) part(text string) string {
	var kept []string
	room := MaxText
	for _, s := range sentences(text) {
		g.sentences++
		if g.sentences > mostSentences {
			g.drop(TooLong)
			continue
		}
		cites, why := g.supports(s)
		if why == "" && len(s)+1 > room {
			why = TooLong
		}
		if why != "" {
			g.drop(why)
			continue
		}
		if !slices.ContainsFunc(cites, func(id evidence.ID) bool { return strings.Contains(s, string(id)) }) { // the model cited nothing; what it says was found all the same
			for _, id := range cites {
				s += " [" + string(id) + "]"
			}
		}
		room -= len(s) + 1
		kept = append(kept, s)
		g.cite(cites)
	}
	return strings.Join(kept, " ")
}

func (g *grounds) cite(ids []evidence.ID) {
	for _, id := range ids {
		if !slices.Contains(g.cites, id) {
			g.cites = append(g.cites, id)
		}
	}
}

var (
	brackets  = regexp.MustCompile(`\[([^\[\]\n]+)\]`)
	idShape   = regexp.MustCompile(`^[a-z]+/\S+$`)
	quotation = regexp.MustCompile("\"([^\"\n]{2,})\"|`([^`\n]{2,})`|“([^”\n]{2,})”|「([^」\n]{2,})」|‘([^’\n]{2,})’|«([^»\n]{2,})»|(?:^|[\\s(])'([^'\n]{3,})'(?:[\\s.,;:)]|$)")
)

// supports says on which evidence a claim rests, or why it is refused.
func (g *grounds) supports(s string) ([]evidence.ID, Reason) {
	var cites []evidence.ID
	for _, m := range brackets.FindAllStringSubmatch(s, -1) {
		for _, id := range cited(m[1]) {
			switch {
			case g.has(id):
				cites = append(cites, evidence.ID(id))
			case idShape.MatchString(id):
				return nil, Invented
			}
		}
	}
	body := brackets.ReplaceAllStringFunc(s, func(b string) string {
		if slices.ContainsFunc(cited(b[1:len(b)-1]), func(id string) bool { return idShape.MatchString(id) }) {
			return " "
		}
		return b
	})
	body = strings.TrimSpace(strings.TrimLeft(body, " \t>*-•#"))
	switch {
	case commands(body):
		return nil, Command
	case asks.MatchString(body), imperative.MatchString(strings.TrimLeft(body, "0123456789.) ")), imperativeIn.MatchString(body), strings.HasSuffix(body, "?"):
		return nil, Order
	case !g.Healthy && well.MatchString(failing.ReplaceAllString(exhausted.ReplaceAllString(body, "exhausted"), "failed")):
		return nil, Contradicts
	}
	if len(cites) == 0 {
		if cites = g.find(body); len(cites) == 0 {
			return nil, NoCitation
		}
	}
	return cites, g.entails(body, cites)
}

func (g *grounds) has(id string) bool { _, ok := g.items[evidence.ID(id)]; return ok }

// find cites for a sentence that cites nothing: the pieces of evidence that hold what can be looked up in
// it, four at most. A sentence without anything to look up is about the piece that shares most words.
func (g *grounds) find(body string) []evidence.ID {
	want := looked(body)
	var cites []evidence.ID
	left := slices.Clone(want)
	for len(left) > 0 && len(cites) < 4 {
		var best evidence.ID
		most, next := 0, left
		for _, item := range g.Items {
			support := g.support([]evidence.ID{item.ID})
			var missing []string
			for _, w := range left {
				if !holds(support, w) {
					missing = append(missing, w)
				}
			}
			if n := len(left) - len(missing); n > most {
				best, most, next = item.ID, n, missing
			}
		}
		if most == 0 {
			break
		}
		cites, left = append(cites, best), next
	}
	if len(want) > 0 {
		return cites
	}
	var best evidence.ID
	most := 1 // one word in common is chance
	for _, item := range g.Items {
		if n, _ := overlap(body, g.support([]evidence.ID{item.ID})); n > most {
			best, most = item.ID, n
		}
	}
	if best == "" {
		return nil
	}
	return []evidence.ID{best}
}

// support is all that items say: their texts, who they are of, and what the rules say where they cite them.
func (g *grounds) support(cites []evidence.ID) string {
	var b strings.Builder
	said := false
	for _, id := range cites {
		item := g.items[id]
		b.WriteString(item.Text + "\n" + string(id) + "\n")
		for _, w := range []string{item.Source.Pod, item.Source.Container, item.Source.Role, item.Source.Node, item.Source.File} {
			b.WriteString(w + "\n")
		}
		if item.Source.Rank >= 0 && item.Source.Pod != "" {
			fmt.Fprintf(&b, "rank %d\n", item.Source.Rank)
		}
		if item.Times > 1 {
			fmt.Fprintf(&b, "%d times\n", item.Times)
		}
		if !item.At.IsZero() {
			b.WriteString(item.At.UTC().Format("2006-01-02 15:04:05 15:04\n"))
		}
		if !said && slices.Contains(g.Root, id) {
			b.WriteString(g.Says + "\n")
			said = true
		}
	}
	return b.String()
}

// entails says why items do not support what is said of them; empty: they do.
func (g *grounds) entails(body string, cites []evidence.ID) Reason {
	support := g.support(cites)
	flat := strings.ToLower(squeeze(support))
	plain := body
	for _, m := range quotation.FindAllStringSubmatch(body, -1) {
		q := squeeze(strings.Join(m[1:], ""))
		if !strings.Contains(flat, strings.ToLower(strings.TrimRight(q, ".,;"))) {
			return Quotation
		}
		plain = strings.Replace(plain, m[0], " ", 1)
	}
	if !ofMembers(plain, support) {
		return Member
	}
	for _, m := range amount.FindAllStringSubmatch(plain+" ", -1) {
		if strings.Contains(strings.TrimSpace(m[0]), " ") && units[strings.ToLower(m[2])] != 0 {
			if !sameAmount(support, m[1], m[2]) {
				return Number
			}
			plain = strings.Replace(plain+" ", m[0], " ", 1)
		}
	}
	for _, m := range called.FindAllStringSubmatch(plain, -1) {
		if w := strings.ToLower(m[1]); !stops[w] && !general[w] && !containsToken(support, w) && !strings.Contains(strings.ToLower(support), stem(w)) {
			return Name
		}
	}
	for _, w := range looked(plain) {
		if holds(support, w) || w == g.Job || w == g.Namespace {
			continue
		}
		if unicode.IsDigit(rune(w[0])) {
			return Number
		}
		return Name
	}
	if why := g.turned(plain, support); why != "" {
		return why
	}
	has := about(support)
	for topic := range about(plain) {
		if !has[topic] {
			return Topic
		}
	}
	if n, of := overlap(plain, support); of > 0 && (n == 0 || n*3 < of) {
		return Topic
	} else if of == 0 && len(looked(plain)) == 0 && plain == body && len(about(plain)) == 0 {
		return NoCitation // nothing in it can be held against anything
	}
	return g.direction(plain, cites)
}

// turned says whether a claim says the opposite of its evidence.
func (g *grounds) turned(body, support string) Reason {
	rest := failing.ReplaceAllString(exhausted.ReplaceAllString(body, "exhausted"), " ")
	support = failing.ReplaceAllString(support, " ") // what failed did not succeed
	if negation.MatchString(rest) && !negation.MatchString(support) {
		return Contradicts
	}
	if m := succeeded.FindString(rest); m != "" && !strings.Contains(strings.ToLower(support), strings.ToLower(m)) {
		return Contradicts
	}
	return ""
}

// because tells cause from consequence by the words between them; the second group of what comes after
// is the cause.
var (
	forward  = regexp.MustCompile(`(?i)\b(?:caused|causes|causing|led to|leads to|leading to|resulted in|results in|triggered|made|brought down|broke|killed|is why|was why|so that|therefore|then|before|preceded|took down)\b|导致|造成|引起|引发|因此|所以|之前|先于|随后`)
	backward = regexp.MustCompile(`(?i)\b(?:because(?: of)?|due to|caused by|after|following|followed from|as a result of|resulted from|results from|triggered by|is a consequence of|was a consequence of|stems? from|owing to|since|killed by|broken by)\b|因为|由于|之后|是由|源于`)
)

// direction says whether a claim makes a consequence the cause of what it followed.
func (g *grounds) direction(body string, cites []evidence.ID) Reason {
	var at []int
	swap := false
	if m := backward.FindStringIndex(body); m != nil {
		at, swap = m, true
	} else if m := forward.FindStringIndex(body); m != nil {
		at = m
	} else {
		return ""
	}
	cause, effect := body[:at[0]], body[at[1]:]
	if swap {
		cause, effect = effect, cause
	}
	if swap && at[0] == 0 { // Because of X, Y
		if i := strings.IndexAny(body, ",，"); i > 0 {
			cause, effect = body[at[1]:i], body[i:]
		}
	}
	// The sides are told by the words that only the root, or only a consequence, has.
	var root, rest string
	for _, id := range cites {
		if slices.Contains(g.Root, id) {
			root += g.support([]evidence.ID{id})
		} else {
			rest += g.support([]evidence.ID{id})
		}
	}
	if root == "" || rest == "" {
		return ""
	}
	if lean(cause, root, rest) < 0 && lean(effect, root, rest) > 0 {
		return Reversed
	}
	return ""
}

// lean says whether a text is of the one support (above 0) or of the other (below).
func lean(text, one, other string) int {
	n := 0
	for _, w := range append(looked(text), content(text)...) {
		a, b := holds(one, w), holds(other, w)
		switch {
		case a && !b:
			n++
		case b && !a:
			n--
		}
	}
	for _, m := range members.FindAllStringSubmatch(text, -1) {
		for _, rank := range numbers.FindAllString(m[1], -1) {
			a, b := ofRank(one, rank), ofRank(other, rank)
			switch {
			case a && !b:
				n += 2
			case b && !a:
				n -= 2
			}
		}
	}
	return n
}

var (
	wordShape = regexp.MustCompile(`[A-Za-z0-9_][A-Za-z0-9_./:@=%+~\-]*|/[A-Za-z0-9_./~\-]+`)
	numbers   = regexp.MustCompile(`\d+(?:[.,:]\d+)*`)
	amount    = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s?(ms|milliseconds?|secs?|seconds?|mins?|minutes?|hours?|[kmgt]i?b|[kmgt]i|bytes?|s|h|b|秒|分钟|小时|毫秒)(?:[^A-Za-z]|$)`)
	members   = regexp.MustCompile(`(?i)(?:\branks?[\s#]*|进程\s*|第\s*)((?:\d+)(?:\s*(?:-|–|—|to|and|through|,|、|和|到)\s*\d+)*)(\s*(?:步|行|层|次|轮|页|天|个 epoch))?`)
	indexed   = regexp.MustCompile(`(?i)\b(workers?|masters?|launchers?|gpus?|devices?|nodes?|servers?|steps?|epochs?|attempts?|layers?|ports?|lines?|signals?|xid)[\s#]+(\d+)\b`)
)

// called is a name behind the word for what it is the name of.
var called = regexp.MustCompile(`(?i)\b(?:modules?|packages?|librar(?:y|ies)|datasets?|models?|files?|images?|taints?|queues?|users?|secrets?|claims?|named|called)\s+([a-z][\w-]+)`)

// general are words that may stand there and are no names.
var general = words("missing absent wrong broken full empty name names named version versions which itself file files registry pull tag loader installed imported import not cannot could too size weights shard download available required needed found")

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// commands says that a text holds a command or an address.
func commands(text string) bool {
	return shellLike.MatchString(text) || address.MatchString(resource.ReplaceAllString(text, " "))
}

// looked are the words of a claim that can be looked up: numbers, and names that no dictionary has.
func looked(body string) (out []string) {
	for _, w := range wordShape.FindAllString(body, -1) {
		w = strings.TrimRight(w, ".:,-/=~+@")
		switch {
		case w == "" || w == "e.g" || w == "i.e" || w == "etc":
		case strings.EqualFold(w, "and/or"):
		case numberWords[strings.ToLower(w)] != "":
			out = append(out, strings.ToLower(w))
		case strings.IndexFunc(w, unicode.IsDigit) >= 0, strings.ContainsAny(w, "_@=") || strings.Contains(w[1:], ".") || strings.HasPrefix(w, "/"), camel(w):
			out = append(out, w)
		case strings.ContainsAny(w, "/:-"):
			for _, part := range strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("/:-", r) }) {
				if camel(part) {
					out = append(out, part)
				}
			}
		}
	}
	return out
}

// common are words with capitals that say nothing about what happened.
var common = map[string]bool{
	"PyTorch": true, "PyTorchJob": true, "Kubernetes": true, "CPU": true, "GPU": true, "GPUs": true, "CUDA": true, "OOM": true, "JobSet": true, "TrainJob": true, "MPIJob": true, "OOMKilled": true,
	"RAM": true, "CPUs": true, "ID": true, "IDs": true, "DDP": true, "TensorFlow": true, "OpenPAI": true,
}

// camel says that a word has capitals where a sentence has none.
func camel(w string) bool {
	if common[w] || len(w) < 2 {
		return false
	}
	ups := 0
	for i, r := range w {
		if i > 0 && unicode.IsUpper(r) {
			ups++
		}
	}
	return ups > 0
}

// holds says whether a support has a word that was looked up: as it is, or as the same amount.
func holds(support, w string) bool {
	if n, ok := numberWords[w]; ok {
		return containsToken(support, w) || containsToken(support, n)
	}
	if containsToken(support, w) {
		return true
	}
	if m := amount.FindStringSubmatch(w + " "); m != nil && strings.HasPrefix(w, m[1]) {
		return sameAmount(support, m[1], m[2])
	}
	if !digitsOnly(w) {
		return false
	}
	w = strings.ReplaceAll(w, ",", "")
	for _, n := range numbers.FindAllString(support, -1) {
		if strings.TrimRight(strings.TrimRight(decimal(n), "0"), ".") == strings.TrimRight(strings.TrimRight(decimal(w), "0"), ".") {
			return true
		}
	}
	return false
}

// decimal is a number with a point, so that 2 and 2.00 are the same once zeros are gone.
func decimal(n string) string {
	n = strings.ReplaceAll(n, ",", "")
	if !strings.Contains(n, ".") {
		n += "."
	}
	return n
}

func digitsOnly(w string) bool {
	return strings.IndexFunc(w, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' && r != '%' }) < 0
}

// sameAmount says whether the same amount stands in a support in another unit.
func sameAmount(support, n, unit string) bool {
	want := value(n) * units[strings.ToLower(unit)]
	for _, m := range amount.FindAllStringSubmatch(support+" ", -1) {
		if got := value(m[1]) * units[strings.ToLower(m[2])]; got != 0 && want/got > 0.99 && want/got < 1.01 {
			return true
		}
	}
	for _, m := range inMillis.FindAllStringSubmatch(support, -1) {
		if got := value(m[1]) / 1000; got != 0 && want/got > 0.99 && want/got < 1.01 {
			return true
		}
	}
	return false
}

// inMillis is how NCCL's watchdog writes a time.
var inMillis = regexp.MustCompile(`\(ms\)\s?=\s?(\d+)`)

func value(n string) float64 {
	var f float64
	_, _ = fmt.Sscanf(n, "%g", &f)
	return f
}

// containsToken says whether a text has a word that is not part of a longer one.
func containsToken(text, w string) bool {
	text, w = strings.ToLower(text), strings.ToLower(w)
	for from := 0; ; {
		i := strings.Index(text[from:], w)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(w):])
		digit := unicode.IsDigit(rune(w[0])) && (before == '.' || before == '-' && i > 1 && unicode.IsDigit(rune(text[i-2])))
		if !wordRune(before) && !wordRune(after) && !digit && !(unicode.IsDigit(rune(w[len(w)-1])) && after == '.' && i+len(w)+1 < len(text) && unicode.IsDigit(rune(text[i+len(w)+1]))) {
			return true
		}
		from = i + 1
	}
}

func wordRune(r rune) bool {
	return r != utf8.RuneError && r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// ofMembers says whether the ranks, workers, devices and the like that a claim names by number are those
// of its evidence.
func ofMembers(body, support string) bool {
	for _, m := range members.FindAllStringSubmatch(body, -1) {
		if m[2] != "" { // the 812th step is no member
			continue
		}
		for _, n := range numbers.FindAllString(m[1], -1) {
			if !ofRank(support, n) {
				return false
			}
		}
	}
	for _, m := range indexed.FindAllStringSubmatch(body, -1) {
		word := regexp.QuoteMeta(strings.TrimSuffix(strings.ToLower(m[1]), "s"))
		switch strings.ToLower(word) {
		case "gpu", "device":
			word = `(?:gpu|cuda|device|nvidia)`
		case "line":
			word = `(?:line|#|\.py)`
		case "port":
			word = `(?:port|\]|\w)`
		}
		if ok, _ := regexp.MatchString(`(?i)`+word+`s?[\s:#=,(\]-]{0,3}(?:0*)`+m[2]+`(?:[^0-9]|$)`, support); !ok {
			return false
		}
	}
	return true
}

func ofRank(support, n string) bool {
	ok, _ := regexp.MatchString(`(?i)(?:rank[\s:=#\[\]]{0,3}|\[rank)0*`+regexp.QuoteMeta(n)+`(?:[^0-9.]|$)`, support)
	return ok
}

// content are the words of a claim that say something.
func content(text string) (out []string) {
	for _, w := range wordShape.FindAllString(text, -1) {
		w = strings.ToLower(strings.Trim(w, ".:,-/=~+@"))
		if len(w) >= 3 && !stops[w] && strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) < 0 {
			out = append(out, w)
		}
	}
	return out
}

// alike are words that explanations use for what platforms call otherwise.
var alike = map[string]string{
	"insufficient": "enough short lack lacking few exhausted", "memory": "oom outofmemory outofmemoryerror", "oomkilled": "memory limit exceeded", "allocate": "ask asked need needed request requested", "tried": "asked needed wanted",
	"timeout": "waited waiting long hung stuck timed time", "denied": "permission allowed access refused", "refused": "connection reach connect connecting", "import": "missing installed module package", "modulenotfounderror": "missing package import imported installed module",
	"back-off": "retry retrying pull pulling wait waits", "evicted": "pushed removed node", "nan": "numbers loss diverged", "space": "full disk", "named": "called", "found": "missing", "pull": "download fetch image", "unschedulable": "placed scheduled room",
	"watchdog": "waited timed timeout collective", "limit": "allowed exceeded over above beyond", "connection": "connect contact reach peer closed reset lost", "closed": "gone lost ended", "resolve": "address unknown name lookup", "no": "missing without full", "available": "placed fit room",
}

// overlap counts the words of a claim that its support has, of those that say something.
func overlap(body, support string) (n, of int) {
	has := map[string]bool{}
	for _, w := range wordShape.FindAllString(support, -1) {
		for _, part := range append(strings.FieldsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) }), w) {
			has[stem(part)] = true
			for other := range strings.FieldsSeq(alike[strings.ToLower(part)]) {
				has[stem(other)] = true
			}
		}
	}
	for _, w := range content(body) {
		of++
		if has[stem(w)] || strings.Contains(strings.ToLower(support), w) {
			n++
		}
	}
	return n, of
}

// cited are the words in one pair of brackets.
func cited(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(",;，、", r) || unicode.IsSpace(r) })
}

// sentences cuts a text at line ends and after . ! ? and their full-width kin. A citation that
// follows the mark belongs to the sentence before it; marks inside brackets, quotation marks,
// numbers and names do not end one, and the number of a list item stays with its sentence.
func sentences(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimLeft(line, " \t>*-•"))
		for line != "" {
			n := sentenceEnd(line)
			if s := strings.TrimSpace(line[:n]); strings.IndexFunc(s, unicode.IsLetter) >= 0 {
				out = append(out, s)
			}
			line = strings.TrimSpace(line[n:])
		}
	}
	return out
}

func sentenceEnd(s string) int {
	depth, quoted := 0, false
	for i, r := range s {
		next := i + utf8.RuneLen(r)
		switch {
		case r == '[':
			depth++
		case r == ']' && depth > 0:
			depth--
		case r == '"' || r == '`':
			quoted = !quoted
		case depth > 0 || quoted:
		case strings.ContainsRune("。！？", r):
			return trailing(s, next)
		case strings.ContainsRune(".!?", r) && ends(s, i, next):
			return trailing(s, next)
		}
	}
	return len(s)
}

// ends says whether the mark at i closes a sentence: white space and no small letter follow,
// and it is not the number of a list item or a short form.
func ends(s string, i, next int) bool {
	if next < len(s) && s[next] != ' ' && s[next] != '\t' {
		return false
	}
	word := s[strings.LastIndexAny(s[:i], " \t(")+1 : i]
	if word == "e.g" || word == "i.e" || word == "etc" || word == "vs" || word == "approx" {
		return false
	}
	return strings.IndexFunc(s[:i], unicode.IsLetter) >= 0 // "1." opens an item
}

// trailing moves the end behind citations that stand after the full stop.
func trailing(s string, end int) int {
	for {
		rest := strings.TrimLeft(s[end:], " \t")
		m := brackets.FindStringSubmatchIndex(rest)
		if m == nil || m[0] != 0 || !slices.ContainsFunc(cited(rest[m[2]:m[3]]), idShape.MatchString) {
			return end
		}
		end = len(s) - len(rest) + m[1]
		if end < len(s) && strings.ContainsRune(".!?", rune(s[end])) {
			end++
		}
	}
}

// squeeze makes any run of white space one space, so that a quotation may be wrapped.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
