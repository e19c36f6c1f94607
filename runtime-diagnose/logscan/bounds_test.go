package logscan

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// textsOf is a bundle of logs, one a pod.
func textsOf(n int, text func(i int) string) (c evidence.Bundle) {
	for i := range n {
		c.Logs = append(c.Logs, evidence.ContainerLog{
			Source: evidence.Source{Pod: fmt.Sprintf("w-%04d", i), Container: "c", Rank: i},
			Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text(i))), nil },
		})
	}
	return c
}

// However many logs are read while the first one does not come, no more than a window of them wait for it; and all are read.
func TestLogsThatWaitForAnEarlierOneAreBounded(t *testing.T) {
	catalog, err := signature.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, logs := range []int{256, 257, 400} {
		synctest.Test(t, func(t *testing.T) {
			var opened atomic.Int64
			first := make(chan struct{})
			c := textsOf(logs, func(int) string { return "step 1\n" })
			for i := range c.Logs {
				open := c.Logs[i].Open
				c.Logs[i].Open = func() (io.ReadCloser, error) {
					if opened.Add(1); i == 0 {
						<-first
					}
					return open()
				}
			}
			var done sync.WaitGroup
			var all Logs
			done.Go(func() { all = Read(t.Context(), c, catalog, nil, Options{}) })
			synctest.Wait()
			n := opened.Load()
			close(first)
			done.Wait()
			if runtime.GOMAXPROCS(0) > 1 && n != 256 || n > 256 || len(all.Courses) != logs || len(all.Missing) > 0 {
				t.Errorf("of %d logs %d are read while the first does not come, and %d in the end", logs, n, len(all.Courses))
			}
		})
	}
}

// 1,024 logs are kept apart; of one more that prints what others print a summary is left, which is one more member all the same.
func TestMoreLogsThanAreKeptApartAreSummedUp(t *testing.T) {
	catalog, err := signature.New()
	if err != nil {
		t.Fatal(err)
	}
	for logs, summaries := range map[int]int{1024: 0, 1025: 1, 1100: 76} {
		all := Read(t.Context(), textsOf(logs, func(i int) string { return fmt.Sprintf("step %d\n", i) }), catalog, nil, Options{})
		if len(all.Courses) != logs-summaries || len(all.Summaries) != summaries || all.Pods != logs || len(all.Missing) > 0 {
			t.Errorf("of %d logs %d are kept apart and %d summed up, of %d pods; want %d summed up", logs, len(all.Courses), len(all.Summaries), all.Pods, summaries)
		}
	}
}

// A summary has the first sign of trouble, the cause and what a launcher names, of however many things its log says.
func TestASummaryHasThreeSightings(t *testing.T) {
	var all []*signature.Signature
	for _, word := range []string{"granite", "basalt", "marble", "gneiss", "slate"} {
		all = append(all, &signature.Signature{
			ID: word, Title: word, Category: "gpu-oom", Role: signature.Root, Kinds: []evidence.Kind{evidence.Log}, Pattern: word + " fell", Domain: signature.User, Retry: signature.Useless,
			Proves: "p", DoesNotProve: "d", Remedy: "r", Since: "0.1",
		})
	}
	catalog, err := signature.New(all...)
	if err != nil {
		t.Fatal(err)
	}
	for says, want := range map[int]int{2: 2, 3: 3, 4: 3, 5: 3} {
		var text strings.Builder
		for _, s := range all[:says] {
			text.WriteString(s.ID + " fell\n")
		}
		c := textsOf(9, func(int) string { return text.String() })
		read := Read(t.Context(), c, catalog, nil, Options{Apart: 4})
		for i := range read.Summaries {
			e := &read.Summaries[i]
			v := read.Groups[e.Group]
			course := e.Course(c.Logs[read.Order[e.Place]].Source, v)
			if got := len(e.Sightings(&course, v)); got != want {
				t.Errorf("of a log that says %d things a summary has %d, want %d", says, got, want)
			}
		}
		if len(read.Summaries) != 5 || len(read.Sightings) != 4*says {
			t.Errorf("%d summaries of 5, and %d sightings of 4 logs that say %d things each", len(read.Summaries), len(read.Sightings), says)
		}
	}
}

// Where one thing is said on and on, not every line is looked at beyond a few, and the last ones still say what they say.
func TestALongBurstIsNotLookedAtWhole(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, lines := range []int{1, 12, 19, 20, 21, 22, 5000} {
		text := strings.Repeat("FileNotFoundError: [Errno 2] No such file or directory: '/data/a'\n", lines)
		h := ReadOne(t.Context(), textsOf(1, func(int) string {
			return text + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
		}), catalog, Options{})
		n, oom := 0, 0
		for _, s := range h.Sightings {
			if s.Signature.Category == "gpu-oom" {
				oom = s.Item.Source.Line
			} else {
				n++
			}
		}
		if n > mostPerSignature+1 || n < min(lines, mostPerSignature) || oom != lines+1 {
			t.Errorf("of %d lines %d are kept, and what follows is seen in line %d", lines, n, oom)
		}
	}
}
