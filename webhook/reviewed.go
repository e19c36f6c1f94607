package webhook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// state is a fingerprint of what is reviewed of one job: its UID, spec and labels, and what silences
// checks. Zero is none.
type state uint64

// stateOf is the state of a job that has a UID: the API server gives it one before it asks webhooks
// (k8s.io/apiserver, pkg/registry/rest/create.go, BeforeCreate). Of a job of 3 MB it takes as long as its policies.
func stateOf(u *unstructured.Unstructured) state {
	if u == nil || u.GetUID() == "" {
		return 0
	}
	labels := u.GetLabels()
	if len(labels) == 0 {
		labels = nil
	}
	room, _ := textRoom.Get().(*[]byte)
	defer textRoom.Put(room)
	text, err := (*room)[:0], error(nil)
	for i, part := range []any{string(u.GetUID()), u.Object["spec"], labels, preflight.ReviewedAnnotations(u)} {
		text = append(text, "[,"[min(i, 1)])
		if text, err = live.AppendJSON(text, part); err != nil {
			return 0
		}
	}
	text = append(text, ']')
	if *room = text; cap(text) > mostTextRoom {
		*room = nil
	}
	return stateOfText(text)
}

func stateOfText(text []byte) state {
	sum := sha256.Sum256(text) // an author must not find two jobs with one state
	return state(binary.BigEndian.Uint64(sum[:]))
}

// textRoom is where texts of jobs are written that are not kept: one for each that is read at the same time.
var textRoom = sync.Pool{New: func() any { return new([]byte) }}

const (
	// mostTextRoom is the room for such a text that is kept for the next one; jobs of some kilobytes are what comes.
	mostTextRoom = 64 << 10
	// mostRemembered are the states that one process keeps: an hour of thirty jobs a second.
	mostRemembered = 1 << 17
	// mostSaid are the newest of which is known what was found: a job is looked at by the controller seconds later, and
	// would be reviewed once more where that is forgotten.
	mostSaid = 3 << 10
	// mostSaidText is what the sentences of one of them may have: what a job is called by may have a megabyte, and is quoted in what is
	// found. Of more it is not remembered what was found.
	mostSaidText = 8 << 10
	// mostPublished are the newest of them, which the other replicas learn; 32 KiB of a ConfigMap's MiB.
	mostPublished = 1 << 12
	// publishedFor is how long a state is told: by then the replica that sweeps has seen the job.
	publishedFor = 10 * time.Minute
	// toldWithin bounds what is lost with a replica that is killed: reviews of its last second. Jobs of those are
	// reviewed once more, and what is found stands on them as if nobody had said it.
	toldWithin = time.Second
	// goneAfter is when the word of a replica that is no more is taken away.
	goneAfter = publishedFor + 5*time.Minute
)

// Reviewed are the states of jobs that were reviewed whole, by all replicas. A webhook that only validates
// cannot write on the job that it looks at; so each replica remembers, and tells the others in a ConfigMap.
// Make it with NewReviewed; nil remembers nothing.
type Reviewed struct {
	client    kubernetes.Interface
	namespace string
	replica   string
	every     time.Duration // the others are told no more often
	news      chan struct{} // something is new
	log       logr.Logger
	now       func() time.Time
	stall     stall

	mu    sync.Mutex
	said  map[state][]finding.Finding // what the newest came to
	says  [mostSaid]state             // those, in a ring
	next  int                         // in it
	known map[state]bool
	order []remembered // oldest first
	told  bool         // the ConfigMap holds the newest
	salt  types.UID    // of that ConfigMap
}

type remembered struct {
	state state
	at    time.Time
}

// ReviewedName is the ConfigMap by which replicas tell each other what they have reviewed.
const ReviewedName = "signalbox-reviews"

const (
	// sweptUntil is its key that says up to when all jobs have been dealt with, in the API server's time.
	sweptUntil = "swept-until"
	// sweptBehind says in JSON up to when those of kinds have that could not be listed since.
	sweptBehind = "swept-behind"
)

var notInKeys = regexp.MustCompile(`[^-._a-zA-Z0-9]+`)

// NewReviewed remembers nothing yet. The name of this replica is that of its host and its own: what a process
// that ended has said stays for a while.
func NewReviewed(c kubernetes.Interface, namespace string, log logr.Logger) *Reviewed {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return &Reviewed{
		client: c, namespace: namespace, replica: "replica-" + notInKeys.ReplaceAllString(host, "-") + "-" + strings.ToLower(rand.Text()[:6]),
		every: toldWithin, news: make(chan struct{}, 1),
		log: log, now: time.Now, said: map[state][]finding.Finding{}, known: map[state]bool{}, told: true,
	}
}

// Found is what a whole review of this process warned of in a job as it is, without what only who submitted it needs;
// known is false where there was none of late.
func (r *Reviewed) Found(u *unstructured.Unstructured) (found []finding.Finding, known bool) {
	if r == nil {
		return nil, false
	}
	s := stateOf(u)
	r.mu.Lock()
	defer r.mu.Unlock()
	found, known = r.said[s]
	return found, known
}

// add remembers that a state was reviewed whole, and what came of it; nil: nothing was looked at. Where the process stood still, nobody may have waited for
// the answer: then it is not known. What was found is found all the same: to review the job once more, because the controller
// asks, would be more work where there is too much.
func (r *Reviewed) add(s state, report *preflight.Report) {
	if r == nil || s == 0 {
		return
	}
	stalled := r.stall.lately(r.now())
	r.mu.Lock()
	defer r.mu.Unlock()
	if report != nil {
		r.say(s, report)
	}
	if stalled || r.known[s] {
		return
	}
	if len(r.order) == mostRemembered {
		for _, old := range r.order[:mostRemembered/8] {
			delete(r.known, old.state)
		}
		r.order = slices.Clone(r.order[mostRemembered/8:])
	}
	r.known[s], r.told = true, false
	r.order = append(r.order, remembered{s, r.now()})
	select {
	case r.news <- struct{}{}:
	default: // it is known already
	}
}

// say remembers what came of a review, and forgets the oldest; the lock is held.
func (r *Reviewed) say(s state, report *preflight.Report) {
	if _, there := r.said[s]; there {
		return
	}
	found, text := warnings(report.Findings), 0
	for _, f := range found {
		text += len(f.Message)
	}
	if text > mostSaidText {
		return
	}
	delete(r.said, r.says[r.next])
	r.said[s], r.says[r.next] = found, s
	r.next = (r.next + 1) % mostSaid
}

// warnings are the first of each check that says more than a hint.
func warnings(all []finding.Finding) (out []finding.Finding) {
	for _, f := range all {
		if f.Severity >= finding.Warning && !slices.ContainsFunc(out, func(w finding.Finding) bool { return w.Check == f.Check }) {
			out = append(out, finding.Finding{Check: f.Check, Severity: f.Severity, Message: f.Message})
		}
	}
	return out
}

func (r *Reviewed) has(s state) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[s]
}

// Start tells the other replicas what is new until the context is done: at once, and then no more often than every
// second. It does so once more at the end: the next process is not to review again what this one has. Where nothing
// is new, nothing is asked.
func (r *Reviewed) Start(ctx context.Context) error {
	var beating sync.WaitGroup
	beating.Go(func() { r.stall.watch(ctx, r.now) })
	defer beating.Wait()
	again := time.NewTicker(5 * r.every) // what failed is tried again, also where nothing is new
	defer again.Stop()
	there := false // from when it is made, jobs are dealt with
	for ctx.Err() == nil {
		if !there {
			_, _, err := r.others(ctx)
			there = err == nil
		}
		if r.untold() {
			if err := r.tell(ctx); err != nil && ctx.Err() == nil {
				r.log.V(1).Info("tell the other replicas what was reviewed", "error", err.Error())
			}
			pause := time.NewTimer(r.every)
			select {
			case <-ctx.Done():
			case <-pause.C:
			}
			pause.Stop()
		}
		select {
		case <-ctx.Done():
		case <-r.news:
		case <-again.C:
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := r.tell(last); err != nil {
		r.log.Info("what was reviewed last is not told", "error", err.Error())
	}
	return nil
}

// untold says whether something is new.
func (r *Reviewed) untold() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.told
}

// tell publishes the newest states, unless the ConfigMap holds them.
func (r *Reviewed) tell(ctx context.Context) error {
	r.mu.Lock()
	if r.told {
		r.mu.Unlock()
		return nil
	}
	newest := r.order[max(0, len(r.order)-mostPublished):]
	text := binary.BigEndian.AppendUint64(nil, uint64(r.now().Unix()))
	for _, s := range newest {
		if r.now().Sub(s.at) < publishedFor {
			text = binary.BigEndian.AppendUint64(text, uint64(s.state))
		}
	}
	r.told = true
	r.mu.Unlock()
	err := r.patch(ctx, map[string]any{"binaryData": map[string]any{r.replica: base64.StdEncoding.EncodeToString(text)}})
	if err != nil {
		r.mu.Lock()
		r.told = false
		r.mu.Unlock()
	}
	return err
}

// patch merges into the ConfigMap, which is made where it is not there.
func (r *Reviewed) patch(ctx context.Context, change map[string]any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	text, err := json.Marshal(change)
	if err != nil {
		return err
	}
	maps := r.client.CoreV1().ConfigMaps(r.namespace)
	options := metav1.PatchOptions{FieldManager: "signalbox-reviews"}
	_, err = maps.Patch(ctx, ReviewedName, types.MergePatchType, text, options)
	if !apierrors.IsNotFound(err) {
		return err
	}
	if _, err = r.make(ctx); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	_, err = maps.Patch(ctx, ReviewedName, types.MergePatchType, text, options)
	return err
}

func (r *Reviewed) make(ctx context.Context) (*corev1.ConfigMap, error) {
	empty := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: ReviewedName, Labels: map[string]string{"app.kubernetes.io/part-of": "signalbox"}}}
	return r.client.CoreV1().ConfigMaps(r.namespace).Create(ctx, empty, metav1.CreateOptions{FieldManager: "signalbox-reviews"})
}

// others reads what the other replicas have reviewed, and up to when all jobs have been dealt with. Where none
// has said so yet, that is when Signalbox came: what was there before is none of its business.
func (r *Reviewed) others(ctx context.Context) (map[state]bool, checkpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	found, err := r.client.CoreV1().ConfigMaps(r.namespace).Get(ctx, ReviewedName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		found, err = r.make(ctx)
	}
	if err != nil {
		return nil, checkpoint{}, fmt.Errorf("read what was reviewed: %w", err)
	}
	r.mu.Lock()
	r.salt = found.UID
	r.mu.Unlock()
	out := map[state]bool{}
	gone := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(found.BinaryData)) {
		words := found.BinaryData[key]
		for i := 8; i+8 <= len(words); i += 8 { // the first is the time
			out[state(binary.BigEndian.Uint64(words[i:]))] = true
		}
		if len(words) >= 8 && key != r.replica && r.now().Sub(time.Unix(int64(binary.BigEndian.Uint64(words)), 0)) > goneAfter {
			gone[key] = nil
		}
	}
	if len(gone) > 0 {
		if err := r.patch(ctx, map[string]any{"binaryData": gone}); err != nil {
			r.log.V(1).Info("forget replicas that are gone", "error", err.Error())
		}
	}
	until, err := time.Parse(time.RFC3339, found.Data[sweptUntil])
	if err != nil {
		return out, checkpoint{until: found.CreationTimestamp.Time}, nil // what cannot be read was never said
	}
	p := checkpoint{until: until}
	if text := found.Data[sweptBehind]; text != "" && json.Unmarshal([]byte(text), &p.behind) != nil {
		p.behind = nil
	}
	return out, p, nil
}

// sign is a word for a state that every replica finds and no author does: who may not read the ConfigMap of this
// namespace cannot know its UID.
func (r *Reviewed) sign(s state) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(r.salt), uint64(s)))
	return hex.EncodeToString(sum[:8])
}

// dealt writes up to when jobs have been dealt with.
func (r *Reviewed) dealt(ctx context.Context, p checkpoint) error {
	data := map[string]any{sweptUntil: p.until.UTC().Format(time.RFC3339), sweptBehind: nil}
	if len(p.behind) > 0 {
		text, err := json.Marshal(p.behind)
		if err != nil {
			return err
		}
		data[sweptBehind] = string(text)
	}
	return r.patch(ctx, map[string]any{"data": data})
}
