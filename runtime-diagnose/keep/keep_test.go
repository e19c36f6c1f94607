package keep

import (
	"archive/tar"
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

var began = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// gang is a job of n ranks whose logs are as long as many lines; attempt 0 is the last one.
func gang(n, attempts, lines int) *Set {
	s := NewSet()
	for attempt := range attempts {
		at := began.Add(-time.Duration(attempt) * time.Hour)
		for rank := range n {
			name := fmt.Sprintf("train-worker-%d", rank)
			uid := types.UID(fmt.Sprintf("%s-%d", name, attempt))
			ended := at.Add(time.Duration(rank) * time.Second)
			s.AddPod(pod(name, uid, ended))
			s.Add(Record{
				Key: Key{Pod: uid, Container: "pytorch"}, Ended: ended, Code: 1,
				Source: evidence.Source{Pod: name, Container: "pytorch", Role: "Worker", Rank: rank, Node: "gpu-" + fmt.Sprint(rank)},
			}, excerpt(failing(rank, attempt, lines)))
		}
	}
	return s
}

func pod(name string, uid types.UID, ended time.Time) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, UID: uid, Labels: map[string]string{"job": "train"}},
		Spec:       corev1.PodSpec{NodeName: "gpu-1"},
		Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "pytorch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: 1, FinishedAt: metav1.NewTime(ended), Message: "api_key=abcdefghijklmnop",
			}},
		}}},
	}
}

// failing is a log that trains, says something that nobody else says, and ends in a traceback.
func failing(rank, attempt, lines int) string {
	var b strings.Builder
	random := rand.New(rand.NewPCG(uint64(rank), uint64(attempt)))
	for i := range lines {
		fmt.Fprintf(&b, "step %d loss %.12f grad %.12f host gpu-%d\n", i, random.Float64(), random.Float64(), rank)
	}
	fmt.Fprintf(&b, "Traceback (most recent call last):\n  File \"train.py\", line 7, in main\n    go()\nValueError: rank %d, attempt %d\n", rank, attempt)
	for i := range 20 {
		fmt.Fprintf(&b, "bye %d %.12f\n", i, random.Float64())
	}
	return b.String()
}

func excerpt(text string) Excerpt {
	e, err := Take(strings.NewReader(text), nil, Budget)
	if err != nil {
		panic(err) //nolint:forbidigo // a reader of text does not fail
	}
	return e
}

func TestAnExcerptKeepsHeadTracebackAndTailWithTheirNumbers(t *testing.T) {
	e := excerpt("hello\n" + failing(3, 0, 5000))
	have := map[int]string{}
	for _, line := range e.Lines {
		have[line.Number] = line.Text
	}
	for number, want := range map[int]string{
		1: "hello", 5002: "Traceback (most recent call last):", 5003: `  File "train.py", line 7, in main`,
		5005: "ValueError: rank 3, attempt 0", 5025: have[5025],
	} {
		if have[number] != want || want == "" {
			t.Errorf("line %d is %q, want %q", number, have[number], want)
		}
	}
	if _, ok := have[2500]; ok || e.Read != 5025 {
		t.Errorf("line 2500 is kept: %t; %d lines read, want 5025", ok, e.Read)
	}
	if diff := cmp.Diff([]Hit{{5002, 5005}}, e.Hits); diff != "" {
		t.Errorf("hits (-want +got):\n%s", diff)
	}
}

// The head of a traceback that is longer than the window makes its end one.
func TestALongTracebackKeepsItsHead(t *testing.T) {
	text := "Traceback (most recent call last):\n" + strings.Repeat("  File \"a.py\", line 1, in f\n    f()\n", 400) + "RecursionError: maximum recursion depth exceeded\n"
	e := excerpt(strings.Repeat("x\n", 100) + text)
	if !slices.ContainsFunc(e.Lines, func(k reduce.Kept) bool { return k.Number == 101 && strings.HasPrefix(k.Text, "Traceback") }) {
		t.Error("the head of the traceback is not kept")
	}
	again := excerpt(string(e.text()))
	if len(again.Hits) != 1 {
		t.Errorf("what is kept has %d hits, want the traceback", len(again.Hits))
	}
}

func TestSignaturesOpenWindows(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	line := "[rank2]:[E] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
	text := strings.Repeat("working\n", 3000) + line + "\n" + strings.Repeat("still talking\n", 3000)
	e, err := Take(strings.NewReader(text), catalog, Budget)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(e.text(), []byte(line)) {
		t.Errorf("the decisive line is not among the %d kept", len(e.Lines))
	}
}

func TestWhatIsStoredComesBack(t *testing.T) {
	s := gang(4, 2, 300)
	s.Add(Record{Key: Key{Pod: "gone", Container: "pytorch", Restart: 2}, Source: evidence.Source{Pod: "gone", Container: "pytorch", Rank: -1}}, Excerpt{})
	data := s.Encode(512 << 10)
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(story(s), story(got)); diff != "" {
		t.Errorf("set (-stored +read):\n%s", diff)
	}
	if !bytes.Equal(data, got.Encode(512<<10)) || !bytes.Equal(data, s.Encode(512<<10)) {
		t.Error("the same set gives other bytes")
	}
	var pods []string
	for _, p := range got.Pods() {
		pods = append(pods, p.Name+" "+p.Status.ContainerStatuses[0].State.Terminated.Message)
	}
	if len(pods) != 8 || pods[0] != "train-worker-0 api_key=[masked]" {
		t.Errorf("pods are %q", pods)
	}
}

// story is a set as one text for each end.
func story(s *Set) []string {
	var out []string
	for _, e := range s.Ends() {
		out = append(out, fmt.Sprintf("%s attempt %d of %+v ended %s with %d, %d bytes skipped, lines %v:\n%s",
			e.Key, e.Attempt, e.Source, e.Ended, e.Code, e.Skipped, e.Lines, e.Text()))
	}
	return out
}

func (k Key) String() string { return fmt.Sprintf("%s/%s#%d", k.Pod, k.Container, k.Restart) }

// Whatever a job prints and however often it is tried, its object stays within the bound, and
// what was kept last of the first failure is kept longest.
func TestTheBoundHolds(t *testing.T) {
	for name, s := range map[string]*Set{
		"a gang of 512":                  gang(512, 1, 60),
		"eight ranks, sixty attempts":    gang(8, 60, 200),
		"one rank that fails for ever":   gang(1, 1000, 3),
		"a thousand ranks, two attempts": gang(1000, 2, 2),
	} {
		t.Run(name, func(t *testing.T) {
			const most = 512 << 10
			ends := s.Len()
			data := s.Encode(most)
			if len(data) > most {
				t.Fatalf("%d bytes; the bound is %d", len(data), most)
			}
			got, err := Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if got.Len()+got.Dropped() != ends {
				t.Errorf("%d kept and %d dropped of %d", got.Len(), got.Dropped(), ends)
			}
			var last int
			for _, e := range got.Ends() {
				last += one(e.Attempt == 0 && len(e.Text()) > 0 && bytes.Contains(e.Text(), []byte("ValueError: rank")))
			}
			t.Logf("%d of %d ends, %d of the last attempt with their decisive line, %d bytes", got.Len(), ends, last, len(data))
			if last == 0 {
				t.Error("nothing of the last attempt says why it failed")
			}
		})
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func TestOldestAttemptsAreFoldedFirst(t *testing.T) {
	s := gang(8, 12, 400)
	s.Encode(64 << 10)
	levels := map[int]map[int]int{} // attempt → level → how many
	for _, e := range s.Ends() {
		if levels[e.Attempt] == nil {
			levels[e.Attempt] = map[int]int{}
		}
		levels[e.Attempt][e.record.level]++
	}
	for attempt := 1; attempt < 12; attempt++ {
		lightest, heaviest := lastLevel, 0
		for level := range levels[attempt] {
			lightest = min(lightest, level)
		}
		for level := range levels[attempt-1] {
			heaviest = max(heaviest, level)
		}
		if lightest < heaviest && heaviest > 1 {
			t.Errorf("attempt %d has logs at level %d, while the later one before it is at %d", attempt, lightest, heaviest)
		}
	}
	if levels[11][lastLevel] != 8 || levels[0][lastLevel] != 0 {
		t.Errorf("levels of the oldest attempt %v, of the last %v", levels[11], levels[0])
	}
}

func TestWithinKeepsTheDecisiveLines(t *testing.T) {
	e := excerpt(failing(1, 0, 2000))
	short := e.Within(1 << 10)
	text := string(short.text())
	if len(text) > 1<<10 || !strings.Contains(text, "Traceback") || !strings.Contains(text, "ValueError: rank 1") || !strings.Contains(text, "bye 19") {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
	if again := excerpt(text); len(again.Hits) != 1 {
		t.Errorf("a shortened log has %d hits, want its traceback", len(again.Hits))
	}
}

func TestAttemptsCountFromTheLast(t *testing.T) {
	s := NewSet()
	add := func(uid types.UID, name string, restart int32, rank int, hours int) {
		s.Add(Record{
			Key: Key{Pod: uid, Container: "c", Restart: restart}, Ended: began.Add(time.Duration(hours) * time.Hour),
			Source: evidence.Source{Pod: name, Container: "c", Role: role(rank), Rank: rank},
		}, excerpt("x\n"))
	}
	add("a", "train-node-0-0-x7k2p", 0, 0, 1)
	add("a", "train-node-0-0-x7k2p", 1, 0, 2)
	add("b", "train-node-0-0-m9q4z", 0, 0, 3)
	add("c", "train-node-0-1-aaaaa", 0, 1, 1)
	add("d", "loner", 0, -1, 1)
	var got []string
	for _, e := range s.Ends() {
		got = append(got, fmt.Sprintf("%s#%d %d", e.Pod, e.Restart, e.Attempt))
	}
	if diff := cmp.Diff([]string{"d#0 0", "b#0 0", "a#1 1", "a#0 2", "c#0 0"}, got); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}

func role(rank int) string {
	if rank < 0 {
		return ""
	}
	return "node"
}

func TestAForeignFormIsRefused(t *testing.T) {
	good := gang(1, 1, 3).Encode(1 << 20)
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":            {nil, "EOF"},
		"no archive":         {[]byte("hello, this is text"), "invalid header"},
		"cut in the middle":  {good[:len(good)/2], "unexpected EOF"},
		"another version":    {member(indexFile, []byte(`{"schema":"signalbox.dev/bundle/v1","kept":7}`)), "version 7; expected"},
		"no index":           {member(podsFile, []byte(`{}`)), "there is no bundle.json"},
		"a log that is gone": {member(indexFile, []byte(`{"schema":"signalbox.dev/bundle/v1","kept":1,"logs":[{"file":"x"}]}`)), `"x" is not in the archive`},
		"numbers that run back": {slices.Concat(member("x", []byte("a\nb\n")),
			member(indexFile, []byte(`{"schema":"signalbox.dev/bundle/v1","kept":1,"logs":[{"file":"x","spans":[[9,1],[3,1]]}]}`))), "follow line 9"},
		"a number above the bound": {slices.Concat(member("x", []byte("a\n")),
			member(indexFile, fmt.Appendf(nil, `{"schema":"signalbox.dev/bundle/v1","kept":1,"logs":[{"file":"x","spans":[[%d,1]]}]}`, mostLines+1))), "1073741825"},
		"a log above the bound":    {member("x", make([]byte, mostFile+1)), "x: it has more than 1048576 bytes"},
		"an index above the bound": {member(indexFile, make([]byte, mostIndex+1)), "bundle.json: it has more than 8388608 bytes"},
		"a file too many":          {members(mostFiles+1, nil), "it has more than 20000 files"},
		"together above the bound": {members(mostTotal/mostFile+1, make([]byte, mostFile)), "or all files more than 67108864"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Decode(tc.data); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

// members are so many logs of one text.
func members(n int, text []byte) []byte {
	a := &archive{}
	a.member(func(t *tar.Writer) {
		for i := range n {
			file(t, fmt.Sprintf("%d.log", i), text)
		}
	})
	return a.out.Bytes()
}

func member(name string, text []byte) []byte {
	a := &archive{}
	a.member(func(t *tar.Writer) { file(t, name, text) })
	return a.out.Bytes()
}

func FuzzDecode(f *testing.F) {
	good := gang(2, 2, 5).Encode(1 << 20)
	f.Add(good)
	f.Add(good[:len(good)-40])
	f.Add(member(indexFile, []byte(`{"schema":"signalbox.dev/bundle/v1","kept":1,"logs":[{"rank":-5,"level":9,"spans":[[1,1]]}]}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Decode(data)
		if err != nil {
			return
		}
		const most = 64 << 10
		stored := s.Encode(most)
		if len(stored) > most {
			t.Fatalf("%d bytes; the bound is %d", len(stored), most)
		}
		again, err := Decode(stored)
		if err != nil {
			t.Fatalf("what was stored cannot be read: %v", err)
		}
		if diff := cmp.Diff(story(s), story(again)); diff != "" {
			t.Errorf("set (-stored +read):\n%s", diff)
		}
	})
}

// For any text: the excerpt is within its budget, its lines are in order, and the stored form is
// within its bound.
func FuzzTake(f *testing.F) {
	f.Add([]byte(failing(1, 1, 30)), 900)
	f.Add([]byte("\x00\xff\r\rTraceback (most recent call last)\nX: y\n"), 10)
	f.Add([]byte(strings.Repeat("中文", 3000)), 4096)
	f.Add([]byte("0\r0"), 105)
	f.Add([]byte("0\r0\r00\nRoot Cause (first observed failure)\r1\r"), 30)
	f.Fuzz(func(t *testing.T, text []byte, budget int) {
		budget = min(max(budget, 0), Budget)
		e, err := Take(bytes.NewReader(text), nil, budget)
		if err != nil {
			t.Fatal(err)
		}
		size, last := 0, 0
		for _, line := range e.Lines {
			if size += len(line.Text) + 1; line.Number <= last || strings.Contains(line.Text, "\n") {
				t.Fatalf("line %d follows %d: %q", line.Number, last, line.Text)
			}
			last = line.Number
		}
		if size > budget {
			t.Fatalf("%d bytes of a budget of %d", size, budget)
		}
		s := NewSet()
		s.Add(Record{Key: Key{Pod: "p", Container: "c"}}, e)
		stored := s.Encode(16 << 10)
		if len(stored) > 16<<10 {
			t.Fatalf("%d bytes stored", len(stored))
		}
		if _, err := Decode(stored); err != nil {
			t.Fatalf("what was stored cannot be read: %v", err)
		}
	})
}

// A bar of progress is one line, however often it is written over: it is kept as it was left, behind what it said of a failure, and what is
// stored can be read.
func TestALineThatIsWrittenOverIsOneLine(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const memory = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
	long := strings.Repeat("said before\n", 3000)
	for name, tc := range map[string]struct{ log, line string }{
		"a bar":                     {" 10%|#\r 20%|##\r100%|####\n", "100%|####"},
		"the same again":            {"50%\r50%\n", "50%"},
		"a failure below a bar":     {" 10%|#\r" + memory + "\n", memory},
		"a failure within a bar":    {" 10%|#\r" + memory + "\r 20%|##\r 30%|###\n", memory + "\r 30%|###"},
		"nothing ends it":           {" 10%|#\r 20%|##", " 20%|##"},
		"a secret that comes later": {memory + "\rpassword=hunter2-of-nobody\n", memory + "\r" + reduce.Mask("password=hunter2-of-nobody")},
	} {
		for where, before := range map[string]string{"whole": "", "in its head": "", "in its tail": long} {
			t.Run(name+", "+where, func(t *testing.T) {
				log, budget := before+tc.log, Budget
				if where == "in its head" {
					log, budget = tc.log+"\n"+long, 4<<10
				}
				e, err := Take(strings.NewReader(log), catalog, budget)
				if err != nil {
					t.Fatal(err)
				}
				number, last := 1+strings.Count(before, "\n"), 0
				var got []string
				for _, line := range e.Lines {
					if line.Number <= last {
						t.Fatalf("line %d follows line %d", line.Number, last)
					}
					if last = line.Number; last == number {
						got = append(got, line.Text)
					}
				}
				if diff := cmp.Diff([]string{tc.line}, got); diff != "" {
					t.Errorf("line %d (-want +got):\n%s", number, diff)
				}
				s := NewSet()
				s.Add(Record{Key: Key{Pod: "p", Container: "c"}, Source: evidence.Source{Container: "c"}}, e)
				again, err := Decode(s.Encode(1 << 20))
				if err != nil {
					t.Fatalf("what was stored cannot be read: %v", err)
				}
				if diff := cmp.Diff(story(s), story(again)); diff != "" {
					t.Errorf("set (-stored +read):\n%s", diff)
				}
			})
		}
	}
}

// Each state of a bar was once stored as a line with the number of the bar.
func TestWhatWasStoredWithANumberTwiceIsRead(t *testing.T) {
	stored := slices.Concat(member("x", []byte(" 10%\n100%\ndone\n")), member(indexFile, []byte(`{"schema":"signalbox.dev/bundle/v1","kept":1,"logs":[{"file":"x","spans":[[1,1],[1,2]]}]}`)))
	s, err := Decode(stored)
	if err != nil {
		t.Fatal(err)
	}
	if ends := s.Ends(); len(ends) != 1 || !slices.Equal(ends[0].Lines, []int{1, 1, 2}) {
		t.Errorf("read as %+v", ends)
	}
}

// TestAShortLogIsKeptWhole: one byte more than the budget, and only what tells is kept.
func TestAShortLogIsKeptWhole(t *testing.T) {
	const line = "step 1 of many, and nothing to say of it\n"
	log := strings.Repeat(line, 400)
	for budget, want := range map[int]int{len(log): 400, len(log) - 1: 20 + 60} { // the head and the tail
		e, err := Take(strings.NewReader(log), nil, budget)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Lines) != want || e.Read != 400 {
			t.Errorf("a log of %d bytes in %d: %d lines of %d; want %d", len(log), budget, len(e.Lines), e.Read, want)
		}
	}
	// Folded, it keeps its end as far as there is room.
	e, err := Take(strings.NewReader(log), nil, len(log))
	if err != nil {
		t.Fatal(err)
	}
	folded := e.Within(10 * len(line))
	if n := len(folded.Lines); n != 10 || folded.Lines[n-1].Number != 400 || folded.Lines[0].Number != 391 {
		t.Errorf("folded: %+v", folded.Lines)
	}
}
