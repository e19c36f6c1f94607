package reduce_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// heard is what a reader of a log is told, in order.
type heard struct {
	Told   []string
	Digest reduce.Digest
	Err    string
}

// letters are where a text has an "e": what the tests search for.
func letters(found []int32, text string) []int32 {
	for i := range len(text) {
		if text[i] == 'e' {
			found = append(found, int32(i))
		}
	}
	return found
}

func readAhead(t *testing.T, r io.Reader, from int64) (h heard) {
	t.Helper()
	suspect := func(text string, found []int32) bool {
		h.Told = append(h.Told, fmt.Sprintf("suspect %q %v", text, found))
		return len(found)%3 > 0
	}
	o := reduce.Options{
		Budget: 2048, Head: 3, Tail: 4, Now: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
		Watch: func(l *reduce.Line) {
			h.Told = append(h.Told, fmt.Sprintf("watch %+v %q %q", *l, l.Body(), l.Written()))
		},
		Suspect: func(text string) bool { return suspect(text, letters(nil, text)) },
		Visit: func(l reduce.Line) bool {
			trace := l.Trace
			l.Trace = nil
			h.Told = append(h.Told, fmt.Sprintf("visit %+v %+v", l, trace))
			return strings.Contains(l.Text, "Error")
		},
	}
	if from > 0 {
		o.Search, o.Found, o.AheadFrom = letters, suspect, from
	}
	var err error
	if h.Digest, err = reduce.Read(r, o); err != nil {
		h.Err = err.Error()
	}
	return h
}

// sameAhead reads a log with and without the second goroutine.
func sameAhead(t *testing.T, open func() io.Reader, from int64) {
	t.Helper()
	alone, ahead := readAhead(t, open(), 0), readAhead(t, open(), from)
	if diff := cmp.Diff(alone, ahead, cmpopts.IgnoreUnexported(reduce.Line{})); diff != "" {
		t.Errorf("a log that is read ahead says something else (-alone +ahead):\n%s", diff)
	}
}

const key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA75X1\nrest of it\n-----END RSA PRIVATE KEY-----\nbehind it\n"

func TestALogReadAheadSaysTheSame(t *testing.T) {
	long := strings.Repeat("a long line ", 20_000)
	cases := map[string]string{
		"lines of many kinds":     "2026-03-01T12:00:01Z [rank0]: one\n[rank1]: Trace[rank2]: ValueError: x\n\x1b[31mred\x1b[0m é\n\nlast",
		"a private key":           "before\n" + key,
		"a password below":        "x\nPassword:\nhunter2hunter2\nbehind\n",
		"a manifest":              "x\napiVersion: v1\ndata:\n  a: c2VjcmV0c2VjcmV0\nkind: Secret\nbehind\n",
		"bars":                    "x\n 10%|#  | 1/10\r 20%|## | 2/10\rValueError: x\nbehind\n",
		"docker's lines":          "x\n" + `{"log":"step 1\n","stream":"stdout","time":"2026-03-01T12:00:01Z"}` + "\n" + `{"log":"a\rb\n","time":"2026-03-01T12:00:02Z"}` + "\n" + `{"log":"-----BEGIN RSA PRIVATE KEY-----\n","time":"2026-03-01T12:00:03Z"}` + "\n" + `{"log":"2026-03-01T12:00:04Z MIIEpAIBAAKCAQEA75X1\n","time":"2026-03-01T12:00:04Z"}` + "\n",
		"a traceback":             "x\nTraceback (most recent call last):\n  File \"x.py\", line 1, in f\n    g()\nValueError: e\n",
		"a line too long":         "x\n" + long + "\nValueError: e\n" + long,
		"more lines than a batch": strings.Repeat("step e\n", 5000),
		"more text than a batch":  strings.Repeat(strings.Repeat("e", 500)+"\n", 2000),
		"one line":                "x\n",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			sameAhead(t, func() io.Reader { return strings.NewReader(text) }, 1)
			sameAhead(t, func() io.Reader {
				return io.MultiReader(strings.NewReader(text), iotest.ErrReader(errors.New("connection lost")))
			}, 1)
		})
	}
}

func FuzzReadAhead(f *testing.F) {
	f.Add("one\ntwo\r\nthree\rfour\n"+key, 2)
	f.Add("[rank0]: Trace[rank1]: ValueError: x[rank2]:y\n 50%|# | [1]x\nPassword:\n\nabcd1234efgh\n", 9)
	f.Add("apiVersion: v1\ndata:\n  a: c2VjcmV0\nkind: Secret\n"+`{"log":"a\n","time":"2026-03-01T12:00:02Z"}`, 1)
	f.Fuzz(func(t *testing.T, text string, from int) {
		sameAhead(t, func() io.Reader { return strings.NewReader(text) }, int64(max(1, from)))
	})
}

// endless counts what is read of a log without an end.
type endless struct {
	line string
	read int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for len(p)-n >= len(e.line) {
		n += copy(p[n:], e.line)
	}
	e.read += n
	return n, nil
}

// TestReadAheadIsBounded: however long its reader takes for a line, not more than three batches are read ahead of it.
func TestReadAheadIsBounded(t *testing.T) {
	const buffer, batches, room = reduce.LongestLine, 3, 64 << 10
	for name, tc := range map[string]struct {
		line string
		most int // bytes
	}{
		"short lines": {"e\n", batches*512*len("e\n") + 2*buffer},
		"long lines":  {strings.Repeat("e", 50_000) + "\n", batches*(room+50_000) + 2*buffer},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				in, goOn, read := &endless{line: tc.line}, make(chan struct{}), make(chan error)
				lines := 0
				go func() {
					_, err := reduce.Read(reduce.Cancelable(ctx, in), reduce.Options{
						Search: letters, Found: func(string, []int32) bool { return false }, AheadFrom: 1,
						Watch: func(*reduce.Line) {
							if lines++; lines == 2 {
								<-goOn
							}
						},
					})
					read <- err
				}()
				synctest.Wait()
				if in.read > tc.most || in.read < tc.most/3 {
					t.Errorf("%d bytes are read while the second line is looked at; want %d at most, and more than a third", in.read, tc.most)
				}
				cancel()
				close(goOn)
				if err := <-read; !errors.Is(err, context.Canceled) {
					t.Errorf("Read = %v, want %v", err, context.Canceled)
				}
			}) // which fails if a goroutine is left
		})
	}
}

// TestReadAheadEndsWithItsReader: what looks at a line may end its goroutine, as a panic does, and none reads on.
func TestReadAheadEndsWithItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &endless{line: "step e\n"}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			lines := 0
			_, err := reduce.Read(in, reduce.Options{Search: letters, Found: func(string, []int32) bool { return false }, AheadFrom: 1, Watch: func(*reduce.Line) {
				if lines++; lines == 3000 {
					runtime.Goexit()
				}
			}})
			t.Errorf("Read = %v, want no return", err)
		}()
		<-ended
		before := in.read
		synctest.Wait()
		if in.read != before {
			t.Errorf("%d bytes were read behind the end", in.read-before)
		}
	})
}
