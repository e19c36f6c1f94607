package logscan

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/familiar"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// What is kept of all logs together; each log that is kept apart has an equal share of it, so that
// the memory that reading takes does not grow with their number.
const (
	allSightings = 16_000
	allExcerpts  = 3 << 20 // bytes
	allLines     = 1 << 20 // bytes of one line of each log
	allSteps     = 16_384
	allCalls     = 16_384
)

// share is what is kept of one log when it has been read.
type share struct {
	sightings int
	excerpt   int // bytes
	line      int // bytes
	steps     int
	calls     int
}

// shareOf divides by the number of logs, between what the least is that tells a member's story and
// what the most is that anybody looks at. Of the log that the cause is found in, all is read again.
func shareOf(logs int) share {
	of := func(all, least, most int) int { return min(max(all/max(logs, 1), least), most) }
	return share{
		sightings: of(allSightings, 1, mostSightings),
		excerpt:   of(allExcerpts, 0, allExcerpts),
		line:      of(allLines, 80, mostLineInResults),
		steps:     of(allSteps, 1, 32),
		calls:     of(allCalls, 1, mostCalls),
	}
}

// Logs is what reading has found.
type Logs struct {
	Sightings    []evidence.Observation
	Excerpts     []evidence.Excerpt
	Courses      []Course           // one of each log that could be opened
	Idle         []evidence.Excerpt // lines that say that a program uses no device
	Summaries    []Summary          // logs that say what others say; nothing else is left of them
	Groups       []*Group           // of the summaries
	Calls        []CallSummary      // of the summaries
	Missing      []string
	Broken       string         // the first source whose log could not be read to its end
	Pods         int            // whose logs were read
	Ended        int            // logs that say that they ended well
	Advance      int            // logs that show that training advances
	Done         int            // logs that end with what was done or found
	Lines        familiar.Lines // of a job that has ended well: what was printed
	Gap          bool           // not all of them were read
	BytesRead    int64
	BytesSkipped int64
	Order        []int32 // logs of the case, by place
}

// Read reads as many logs at a time as there are processors, in the order in which they were given.
func Read(ctx context.Context, c evidence.Bundle, catalog *signature.Catalog, pods []control.Pod, o Options) Logs {
	if catalog == nil {
		return Logs{}
	}
	at := podsByName(pods)
	order := orderOf(&c)
	all := newGatherer(&c, order, o)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, place := range placesIn(order) {
		all.begin()
		g.Go(func() error {
			h := Log{place: place, unread: ctx.Err() != nil}
			if !h.unread {
				h.read(ctx, &c.Logs[i], c, catalog, at, o)
			}
			all.add(i, &h)
			return nil
		})
	}
	_ = g.Wait() // what went wrong with a log is in what was read of it
	out := all.all()
	if unread := len(c.Logs) - all.heard; unread > 0 {
		out.Missing = append(out.Missing, fmt.Sprintf("%d of %d logs were not read: %v", unread, len(c.Logs), ctx.Err()))
	}
	return out
}

// ReadOne reads the first log of a case, all of it kept.
func ReadOne(ctx context.Context, c evidence.Bundle, catalog *signature.Catalog, o Options) Log {
	var h Log
	h.read(ctx, &c.Logs[0], c, catalog, nil, o)
	return h
}

func podsByName(pods []control.Pod) map[string]*control.Pod {
	at := make(map[string]*control.Pod, len(pods))
	for i := range pods {
		at[pods[i].Name] = &pods[i]
	}
	return at
}

// orderOf puts the logs in an order that does not depend on the one in which they were given.
func orderOf(c *evidence.Bundle) []int32 {
	order := make([]int32, len(c.Logs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(i, j int32) int {
		x, y := &c.Logs[i].Source, &c.Logs[j].Source
		return cmp.Or(strings.Compare(x.Pod, y.Pod), strings.Compare(x.Container, y.Container),
			cmp.Compare(x.Attempt, y.Attempt), strings.Compare(x.File, y.File))
	})
	return order
}

// placesIn are the places of the logs in an order.
func placesIn(order []int32) []int32 {
	places := make([]int32, len(order))
	for place, i := range order {
		places[i] = int32(place)
	}
	return places
}

// Log is what one log says.
type Log struct {
	place        int32 // of the log in the order of names
	unread       bool  // the diagnosis was over before
	Sightings    []evidence.Observation
	Excerpt      evidence.Excerpt
	Course       Course
	idle         evidence.Excerpt // the line that says that the program uses no device; no lines: none does
	missing      []string
	Opened       bool
	broken       bool                   // it could not be read to its end
	told         []evidence.Observation // the foremost of them
	advances     bool                   // it shows that training advances
	done         bool                   // it ends without complaint, with what was done or found
	callsLeft    int                    // lines of watchdogs that are not kept
	bytesRead    int64
	bytesSkipped int64
}

func (h *Log) read(ctx context.Context, log *evidence.ContainerLog, c evidence.Bundle, catalog *signature.Catalog, pods map[string]*control.Pod, o Options) {
	name, share := log.Source.Name(), shareOf(min(len(c.Logs), o.apart()))
	h.Excerpt.Source = log.Source
	in, err := log.Open()
	if err != nil {
		h.missing = append(h.missing, fmt.Sprintf("log of %s: %v", name, err))
		return
	}
	defer in.Close()
	pod := pods[log.Source.Pod]
	placed := *log
	log = &placed
	log.Source = placedBy(pod, log.Source)
	r := &logReader{log: log, options: &o, failed: pod != nil && pod.Exit != nil && log.Source.Attempt == 0, catalog: catalog, view: catalog.NewView(), share: share, perSignature: map[string]int{}, latest: map[string]bool{}, generic: map[string]int{}, curve: c.State.Phase == kinds.Running || len(c.Logs) <= o.apart(), remember: WantsLines(&c)}
	now := c.Now
	r.steps.TimeOf = func(text string) (time.Time, bool) { return reduce.TimeIn(text, now) }
	reading := reduce.Options{Budget: o.LogBudget, Now: c.Now, Numbers: log.Numbers, Watch: r.watch, Suspect: r.suspect, Visit: r.visit}
	if o.readsAhead(len(c.Logs)) {
		reading.Search, reading.Found, reading.AheadFrom = r.search, r.found, o.aheadFrom
	}
	digest, err := reduce.Read(reduce.Cancelable(ctx, in), reading)
	if err != nil {
		h.missing = append(h.missing, fmt.Sprintf("log of %s after byte %d: %v", name, digest.BytesRead, err))
		h.broken = true
	}
	if digest.LinesCut > 0 {
		h.missing = append(h.missing, fmt.Sprintf("log of %s: of %d line%s only the first %d and the last %d KiB were read", name, digest.LinesCut, words.S(digest.LinesCut), (reduce.LongestLine-reduce.LongestEnd)>>10, reduce.LongestEnd>>10))
	}
	if n := digest.Unfollowed; n > 0 {
		h.missing = append(h.missing, fmt.Sprintf("log of %s: %s began within thousands of others; %s read line by line", name, words.Count(n, "traceback", "tracebacks"), map[bool]string{true: "it is", false: "they are"}[n == 1]))
	}
	excerpt := evidence.Excerpt{Source: log.Source, Lines: digest.Lines, Read: digest.LinesRead, Skipped: digest.BytesSkipped}
	digest.Lines = withLast(digest)
	now = digest.Now
	r.settle(digest)
	if r.quotes() {
		h.missing = append(h.missing, fmt.Sprintf("%s reads as a document, sentences below headings or source code without times: errors in it are taken as quoted", name))
	}
	h.Opened, h.Course = true, r.finish(digest)
	if pod != nil && log.Source.Attempt == 0 {
		r.anchor(pod.Ended)
	}
	r.heed(LastWord(pod, log, c))
	h.Sightings = foremost(r.sightings, share.sightings)
	if line, ok := excerpt.First(progress.UsesNoDevice); ok && log.Source.Pod != "" && log.Source.Attempt == 0 {
		h.idle = line
	}
	h.Excerpt = within(excerpt, share.excerpt)
	h.bytesRead, h.callsLeft = digest.BytesRead, r.callsLeft
	h.bytesSkipped = digest.BytesSkipped + log.Skipped
	h.Course.Quotes = r.quotes()
	h.Course.Ended = r.endedWell(digest) && !log.Pasted
	h.advances = !r.quotesErrors() && (r.trains() || r.counters.Advances(digest.Last.Number, r.complained()) || r.oneSample(digest) || r.movesCalmly(digest)) && !log.Pasted && !digest.InTraceback && h.Course.Bad.Number == 0 && !r.breaksOff(digest) && !r.complainsLast(digest)
	h.done = !h.advances && r.calm > 0 && !r.ranInto(digest.Last.Number)
}

// withLast are the lines that are kept, and the last one with text, which may be too long to be.
func withLast(d reduce.Digest) []reduce.Kept {
	at, kept := slices.BinarySearchFunc(d.Lines, d.Last.Number, func(l reduce.Kept, number int) int { return cmp.Compare(l.Number, number) })
	if kept || d.Last.Number == 0 {
		return d.Lines
	}
	return slices.Insert(slices.Clone(d.Lines), at, reduce.Kept{Number: d.Last.Number, Text: d.Last.Text})
}

// readsAhead says that each of so many logs is read by two goroutines. Where there are as many logs as processors, each
// processor reads one.
func (o *Options) readsAhead(logs int) bool {
	return o.aheadFrom > 0 || o.aheadFrom == 0 && logs < runtime.GOMAXPROCS(0)
}

// LastWord is what the platform says of the life of the container that a log is of.
func LastWord(pod *control.Pod, log *evidence.ContainerLog, c evidence.Bundle) control.Word {
	switch {
	case log.Past && !control.NoRejoin(&c):
		return control.Past
	case pod == nil:
		return control.Open
	}
	return pod.Word(log.Source.Container, log.Source.Attempt)
}

// placedBy is a source with what is known of its pod.
func placedBy(pod *control.Pod, s evidence.Source) evidence.Source {
	if pod == nil {
		return s
	}
	s.Node = cmp.Or(s.Node, pod.Source.Node)
	if s.Role == "" {
		s.Role, s.Rank = pod.Source.Role, pod.Source.Rank
	}
	return s
}

// foremost are the n sightings of a log that say most: the first sign of trouble, what a launcher
// names, of each signature the first that is over and the first that is not, causes before effects; in the order of the
// log. Where there is room for one, it is the best cause.
func foremost(seen []evidence.Observation, n int) []evidence.Observation {
	if len(seen) <= n {
		return seen
	}
	type place struct{ at, repeat, worth int }
	type said struct {
		id   string
		over bool
	}
	places, times, sign := make([]place, len(seen)), map[said]int{}, false
	for i := range seen {
		s := &seen[i]
		what := said{s.Signature.ID, s.Over} // what was survived a dozen times ended the program at last
		p := place{at: i, repeat: min(times[what], 1), worth: worthOf(s)}
		times[what]++
		if first := !sign && !s.Over && s.Signature.Role != signature.Context; n > 1 && (first || s.First) {
			sign, p.repeat, p.worth = sign || first, 0, -1
		}
		places[i] = p
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.repeat, b.repeat), cmp.Compare(a.worth, b.worth), cmp.Compare(a.at, b.at))
	})
	places = places[:n]
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	out := make([]evidence.Observation, n)
	for i, p := range places {
		out[i] = seen[p.at]
	}
	return out
}

// worthOf orders sightings by what they can tell, the best first.
func worthOf(s *evidence.Observation) int {
	roles := map[signature.Role]int{signature.Root: 0, signature.Cascade: 1, signature.Confirmation: 2}
	worth, ok := roles[s.Signature.Role]
	if !ok {
		worth = len(roles)
	}
	worth = worth*8 - int(s.Signature.DepthOf())
	if s.Over || s.Mild || s.Signature.Weak {
		worth += 8 * (len(roles) + 1)
	}
	return worth
}

// lineCost is what keeping a line costs besides its text, in bytes.
const lineCost = 40

// within is an excerpt in so many bytes: its end, where it has to be shorter.
func within(e evidence.Excerpt, bytes int) evidence.Excerpt {
	from := len(e.Lines)
	for ; from > 0; from-- {
		if bytes -= len(e.Lines[from-1].Text) + lineCost; bytes < 0 {
			break
		}
	}
	if from > 0 {
		e.Lines, e.Short = slices.Clone(e.Lines[from:]), true
	}
	return e
}

// WantsLines says that what the logs print is to be remembered: the job has ended well.
func WantsLines(c *evidence.Bundle) bool { return c.State.Phase == kinds.Succeeded }
