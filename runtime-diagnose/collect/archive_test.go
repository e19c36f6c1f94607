package collect

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// manyLogs is an archive of so many logs, in another order than that of the index.
func manyLogs(t *testing.T, n int) (raw []byte, want []string) {
	t.Helper()
	entries := make([]string, n)
	var index []string
	for i := range n {
		want = append(want, fmt.Sprintf("log %d\n", i)+strings.Repeat(fmt.Sprintf("line of %d\n", i), 5000))
		entries[i] = fmt.Sprintf("logs/%d.log=%s", i, want[i])
		index = append(index, fmt.Sprintf(`{"file":"logs/%d.log","pod":"p-%d","rank":%d}`, i, i, i))
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(n, func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	entries = append(entries, fmt.Sprintf(`bundle.json={"schema":"signalbox.dev/bundle/v1","logs":[%s]}`, strings.Join(index, ",")))
	return tgz(t, entries...), want
}

func TestLogsOfAnArchiveAreReadInAnyOrderAndByManyAtATime(t *testing.T) {
	raw, want := manyLogs(t, 24)
	c, err := Open(t.Context(), write(t, raw))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Logs) != len(want) {
		t.Fatalf("%d logs", len(c.Logs))
	}
	orders := [][]int{{}, {}, {}}
	for i := range c.Logs {
		orders[0] = append(orders[0], i)
		orders[1] = append(orders[1], len(want)-1-i)
		orders[2] = append(orders[2], (i*7)%len(want))
	}
	var wg sync.WaitGroup
	for _, order := range orders {
		wg.Go(func() {
			for _, i := range order {
				if got := text(t, c.Logs[i]); got != want[c.Logs[i].Source.Rank] {
					t.Errorf("log %d: %d bytes that begin with %q", c.Logs[i].Source.Rank, len(got), got[:min(len(got), 20)])
				}
			}
		})
	}
	wg.Wait()
}

func TestLogsReadInTheirOrderReadTheArchiveOnce(t *testing.T) {
	raw, want := manyLogs(t, 24)
	path := write(t, raw)
	a := &archive{name: path}
	c := &contents{objects: map[string][]byte{}, logs: map[string]*logFile{}}
	if err := c.readArchive(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	files := slices.SortedFunc(func(yield func(*logFile) bool) {
		for _, f := range c.logs {
			if !yield(f) {
				return
			}
		}
	}, func(a, b *logFile) int { return a.order - b.order })
	if len(files) != len(want) {
		t.Fatalf("%d files", len(files))
	}
	var first *cursor
	for i, f := range files {
		in, err := f.open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(in, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = a.idle[0]
		}
		if len(a.idle) != 1 || a.idle[0] != first {
			t.Fatalf("file %d was read by another cursor than the first", i)
		}
	}
}

// However many files of an archive are read at a time, it is held open for a few of those that come next, and each is read whole.
func TestAnArchiveIsHeldOpenAFewTimes(t *testing.T) {
	raw, want := manyLogs(t, 24)
	path := write(t, raw)
	held := func() (n int) {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		for _, e := range all {
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && to == path {
				n++
			}
		}
		return n
	}
	for _, readers := range []int{4, 5, 24} {
		c, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		before := held()
		var open []io.ReadCloser
		for _, l := range c.Logs[:readers] {
			in, err := l.Open()
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, in)
		}
		for i, in := range open {
			got, err := io.ReadAll(in)
			if err != nil || string(got) != want[c.Logs[i].Source.Rank] {
				t.Errorf("log %d of %d that are read at a time has %d bytes (%v)", i, readers, len(got), err)
			}
			if err := in.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if n := held() - before; n > 4 {
			t.Errorf("after %d readers the archive is held open %d times", readers, n)
		}
	}
}

func TestAnArchiveThatChangesWhileItIsRead(t *testing.T) {
	raw, _ := manyLogs(t, 3)
	path := write(t, raw)
	c, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, tgz(t, "bundle.json={}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Logs[2].Open(); err == nil || err.Error() != "the archive has changed: it has fewer files than before" {
		t.Errorf("error %v", err)
	}
}

func TestOpeningEndsWithTheContext(t *testing.T) {
	raw, _ := manyLogs(t, 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, write(t, raw)); !errors.Is(err, context.Canceled) {
		t.Errorf("archive: %v", err)
	}
	if _, err := Open(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("folder: %v", err)
	}
}

func TestAFileWithHolesIsRefused(t *testing.T) {
	var plain, b bytes.Buffer
	w := tar.NewWriter(&plain)
	// GNU tar writes these records before a sparse file of the format 1.0; archive/tar writes none.
	h := &tar.Header{Name: "x.log", Typeflag: tar.TypeReg, Size: 512, Format: tar.FormatPAX, PAXRecords: map[string]string{
		"GNU.sparsX.major": "1", "GNU.sparsX.minor": "0", "GNU.sparsX.realsize": "1099511627776",
	}}
	if err := w.WriteHeader(h); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(w, "%-512s", "1\n0\n0\n"); err != nil {
		t.Fatal(err)
	}
	zip := gzip.NewWriter(&b)
	if _, err := zip.Write(bytes.ReplaceAll(plain.Bytes(), []byte("sparsX"), []byte("sparse"))); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), write(t, b.Bytes())); err == nil || !strings.Contains(err.Error(), `"x.log" has holes`) {
		t.Errorf("error %v", err)
	}
}

func TestFilesThatTheIndexDoesNotNameAreCounted(t *testing.T) {
	c, err := Open(t.Context(), write(t, tgz(t, `bundle.json={"schema":"signalbox.dev/bundle/v1","logs":[{"file":"a.log"}]}`, "a.log=x", "b.log=y", "c.log=z")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"files of the bundle that bundle.json does not name: 2"}, c.Missing); diff != "" {
		t.Error(diff)
	}
}

func TestNumbersOfLinesThatDoNotFitTheLog(t *testing.T) {
	cases := map[string]struct{ spans, text, want string }{
		"fewer lines":                      {"[[1,3]]", "a\nb\n", "it has 2 lines; its numbers are of 3"},
		"a billion lines":                  {"[[1,1073741823]]", "a\n", "it has 1 lines; its numbers are of 1073741823"},
		"numbers that fit":                 {"[[1,1],[7,1]]", "a\nb", ""},
		"one line too many to be numbered": {"[[1,1048577]]", strings.Repeat("\n", mostNumbered+1), "it has 1048577 lines; expected at most 1048576"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := Open(t.Context(), write(t, tgz(t, `bundle.json={"schema":"signalbox.dev/bundle/v1","logs":[{"file":"a.log","spans":`+tc.spans+`}]}`, "a.log="+tc.text)))
			if tc.want == "" {
				if err != nil || !slices.Equal(c.Logs[0].Numbers, []int{1, 7}) {
					t.Errorf("%v, error %v", c.Logs, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), "bundle.json: a.log: "+tc.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A bundle is diagnosed the same as a folder, an archive, and an archive in another order.
func TestTheOrderOfAnArchiveDoesNotMatter(t *testing.T) {
	logs := map[string]string{}
	for i := range 40 {
		logs[fmt.Sprintf("logs/p-%d.log", i)] = fmt.Sprintf("step 1\nRuntimeError: of %d\n", i)
	}
	var index []string
	for i := range 40 {
		index = append(index, fmt.Sprintf(`{"file":"logs/p-%d.log","pod":"p-%d","container":"c","rank":%d}`, i, i, i))
	}
	ix := fmt.Sprintf(`bundle.json={"schema":"signalbox.dev/bundle/v1","taken":"2026-11-20T08:00:00Z","logs":[%s]}`, strings.Join(index, ","))
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	for seed := range uint64(3) {
		entries := []string{ix}
		for name, body := range logs {
			entries = append(entries, name+"="+body)
		}
		slices.Sort(entries)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		c, err := Open(t.Context(), write(t, tgz(t, entries...)))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := diagnose.JSON(diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, string(answer))
	}
	for _, a := range answers[1:] {
		if diff := cmp.Diff(answers[0], a); diff != "" {
			t.Errorf("another order, another answer:\n%s", diff)
		}
	}
}

// TestAZipArchiveHoldsWhatLiesInIt: names are shown, and say where a log comes from.
func TestAZipArchiveHoldsWhatLiesInIt(t *testing.T) {
	for _, name := range []string{"../x.log", "/etc/passwd.log", "a/../../x.log"} {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		in, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(in, "x\n"); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "logs.zip")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := openContents(t.Context(), file); err == nil || !strings.Contains(err.Error(), "leaves the bundle") {
			t.Errorf("%s: %v; want to be told that it leaves the bundle", name, err)
		}
	}
}
