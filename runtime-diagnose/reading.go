package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/rank"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// What is kept of all logs together; each log has an equal share of it, so that the memory that
// reading takes does not grow with their number.
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

// logsRead is what reading has found.
type logsRead struct {
	sightings    []rank.Sighting
	excerpts     []Excerpt
	missing      []string
	pods         map[string]bool
	bytesRead    int64
	bytesSkipped int64
	broken       []string        // sources whose log could not be read to its end
	ended        map[string]bool // sources whose log says that it ended well
	progress     []string        // sources whose log shows that training advances
	tracks       []track         // one of each log that could be opened
	idle         []Excerpt       // lines that say that a program uses no device
}

// readLogs reads as many logs at a time as there are processors, in the order in which they were given;
// the result is that of reading them one after the other in their own.
func readLogs(ctx context.Context, c Case, order []int, catalog *signature.Catalog, pods []control.Pod, o Options) logsRead {
	out := newLogsRead()
	if catalog == nil {
		return out
	}
	at := make(map[string]*control.Pod, len(pods))
	for i := range pods {
		at[pods[i].Name] = &pods[i]
	}
	out.excerpts, out.tracks = make([]Excerpt, 0, len(c.Logs)), make([]track, 0, len(c.Logs))
	parts := parts{out: &out, ready: make([]*logsRead, len(c.Logs))}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, i := range order {
		g.Go(func() error {
			if ctx.Err() == nil {
				one := newLogsRead()
				one.read(ctx, &c.Logs[i], c, catalog, at, o)
				parts.add(i, &one)
			}
			return nil
		})
	}
	_ = g.Wait() // what went wrong with a log is in its part
	if unread := parts.rest(); unread > 0 {
		out.missing = append(out.missing, fmt.Sprintf("%d of %d logs were not read: %v", unread, len(c.Logs), ctx.Err()))
	}
	return out
}

// parts are what single logs said, put together in the order of the logs as soon as it can be.
type parts struct {
	mu    sync.Mutex
	out   *logsRead
	next  int // log to be joined
	ready []*logsRead
}

func (p *parts) add(i int, one *logsRead) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready[i] = one
	for ; p.next < len(p.ready) && p.ready[p.next] != nil; p.next++ {
		p.out.join(*p.ready[p.next])
		p.ready[p.next] = nil
	}
}

// rest joins what follows logs that were not read, and counts those.
func (p *parts) rest() (unread int) {
	for _, one := range p.ready[p.next:] {
		if one == nil {
			unread++
			continue
		}
		p.out.join(*one)
	}
	return unread
}

// sorted puts the logs of a case into one order, whatever order they were given in. What is
// returned are their places in the order in which they were given.
func (c *Case) sorted() []int {
	places := make([]int, len(c.Logs))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(i, j int) int {
		x, y := c.Logs[i].Source, c.Logs[j].Source
		return cmp.Or(strings.Compare(x.Pod, y.Pod), strings.Compare(x.Container, y.Container),
			cmp.Compare(x.Attempt, y.Attempt), strings.Compare(x.File, y.File))
	})
	given, logs := make([]int, len(places)), make([]Log, len(places))
	for place, i := range places {
		given[i], logs[place] = place, c.Logs[i]
	}
	c.Logs = logs
	return given
}

func newLogsRead() logsRead {
	return logsRead{pods: map[string]bool{}, ended: map[string]bool{}}
}

// join adds what the next logs said.
func (out *logsRead) join(next logsRead) {
	out.sightings = append(out.sightings, next.sightings...)
	out.excerpts = append(out.excerpts, next.excerpts...)
	out.missing = append(out.missing, next.missing...)
	maps.Copy(out.pods, next.pods)
	out.bytesRead += next.bytesRead
	out.bytesSkipped += next.bytesSkipped
	out.broken = append(out.broken, next.broken...)
	maps.Copy(out.ended, next.ended)
	out.progress = append(out.progress, next.progress...)
	out.tracks = append(out.tracks, next.tracks...)
	out.idle = append(out.idle, next.idle...)
}

func (out *logsRead) read(ctx context.Context, log *Log, c Case, catalog *signature.Catalog, pods map[string]*control.Pod, o Options) {
	name, share := sourceName(log.Source), shareOf(len(c.Logs))
	in, err := log.Open()
	if err != nil {
		out.missing = append(out.missing, fmt.Sprintf("log of %s: %v", name, err))
		return
	}
	defer in.Close()
	pod := pods[log.Source.Pod]
	placed := *log
	log = &placed
	if pod != nil {
		log.Source.Node = cmp.Or(log.Source.Node, pod.Source.Node)
		if log.Source.Role == "" {
			log.Source.Role, log.Source.Rank = pod.Source.Role, pod.Source.Rank
		}
	}
	r := &logReader{log: log, catalog: catalog, ear: catalog.NewEar(), share: share, perSignature: map[string]int{}, generic: map[string]int{}, curve: c.State.Phase == kinds.Running, remember: c.wantsLines()}
	r.steps.TimeOf = func(text string) (time.Time, bool) { return reduce.TimeIn(text, c.Now) }
	digest, err := reduce.Read(reduce.Cancelable(ctx, in), reduce.Options{Budget: o.LogBudget, Now: c.Now, Numbers: log.Numbers, Watch: r.watch, Suspect: r.suspect, Visit: r.visit})
	if err != nil {
		out.missing = append(out.missing, fmt.Sprintf("log of %s after byte %d: %v", name, digest.BytesRead, err))
		out.broken = append(out.broken, name)
	}
	if digest.LinesCut > 0 {
		out.missing = append(out.missing, fmt.Sprintf("log of %s: of %d line%s only the first %d and the last %d KiB were read", name, digest.LinesCut, plural(digest.LinesCut), (reduce.LongestLine-reduce.LongestEnd)>>10, reduce.LongestEnd>>10))
	}
	r.settle()
	out.tracks = append(out.tracks, r.finish(digest, c.Now))
	switch {
	case pod != nil && log.Source.Attempt == 0:
		r.anchor(pod.Ended)
	case (log.Past || pod != nil && pod.Recovered) && !noRejoin(c):
		for i := range r.sightings {
			r.sightings[i].Over = true
		}
	}
	out.sightings = append(out.sightings, foremost(r.sightings, share.sightings)...)
	excerpt := Excerpt{Source: log.Source, Lines: digest.Lines, Read: digest.LinesRead, Skipped: digest.BytesSkipped}
	if line, ok := excerpt.idle(); ok {
		out.idle = append(out.idle, line)
	}
	out.excerpts = append(out.excerpts, excerpt.within(share.excerpt))
	out.bytesRead += digest.BytesRead
	out.bytesSkipped += digest.BytesSkipped + log.Skipped
	if log.Source.Pod != "" && digest.BytesRead > 0 {
		out.pods[log.Source.Pod] = true
	}
	if r.success > 0 && !log.Pasted {
		out.ended[name] = true
	}
	if r.progress > 0 && !log.Pasted && !digest.InTraceback && !endsBadly.MatchString(digest.Last.Text) {
		out.progress = append(out.progress, name)
	}
}

// foremost are the n sightings of a log that say most: the first sign of trouble, what a launcher
// names, of each signature the first, causes before effects; in the order of the log. Where there is
// room for one, it is the best cause.
func foremost(seen []rank.Sighting, n int) []rank.Sighting {
	if len(seen) <= n {
		return seen
	}
	type place struct{ at, repeat, worth int }
	places, times, sign := make([]place, len(seen)), map[string]int{}, false
	for i := range seen {
		s := &seen[i]
		p := place{at: i, repeat: min(times[s.Signature.ID], 1), worth: worthOf(s)}
		times[s.Signature.ID]++
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
	out := make([]rank.Sighting, n)
	for i, p := range places {
		out[i] = seen[p.at]
	}
	return out
}

// worthOf orders sightings by what they can tell, the best first.
func worthOf(s *rank.Sighting) int {
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

// within is the excerpt in so many bytes: its end, where it has to be shorter.
func (e Excerpt) within(bytes int) Excerpt {
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

// rereadRoot gets the decisive line and those around it where the gang is so large that they were not
// kept whole.
func (d *diagnosis) rereadRoot(ctx context.Context) {
	root := d.ranking.Root
	if root == nil || root.Item.Kind != evidence.Log {
		return
	}
	again, ok := d.excerptAgain(ctx, root.Item.Source)
	if !ok {
		return
	}
	for _, s := range again.sightings {
		if s.Item.ID == root.Item.ID && s.Signature.ID == root.Signature.ID {
			root.Line, root.Said, root.Item.Text = s.Line, s.Said, s.Item.Text
		}
	}
}

// excerptAgain reads the log that a source is in once more, all of it kept, where only a share of it
// was; ok is false if that was not so.
func (d *diagnosis) excerptAgain(ctx context.Context, s evidence.Source) (again logsRead, ok bool) {
	at := slices.IndexFunc(d.logs.excerpts, func(e Excerpt) bool { return e.of(s) })
	from := slices.IndexFunc(d.Logs, func(l Log) bool { return Excerpt{Source: l.Source}.of(s) })
	if at < 0 || from < 0 || !d.logs.excerpts[at].Short {
		return again, false
	}
	again = newLogsRead()
	one := d.Case
	one.Logs = d.Logs[from : from+1]
	again.read(ctx, &one.Logs[0], one, d.catalog, nil, d.options)
	if len(again.excerpts) == 0 {
		return again, false
	}
	again.excerpts[0].Source = d.logs.excerpts[at].Source
	d.logs.excerpts[at] = again.excerpts[0]
	return again, true
}

// of says that it is an excerpt of the log that a source is in.
func (e Excerpt) of(s evidence.Source) bool {
	return e.Source.Pod == s.Pod && e.Source.Container == s.Container && e.Source.Attempt == s.Attempt && e.Source.File == s.File
}
