package logscan

import (
	"cmp"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// logsOfCases are the logs of the labelled cases where they lie beside the repository, else the catalog's fixtures.
func logsOfCases(t *testing.T) map[string]string {
	t.Helper()
	logs := map[string]string{}
	for _, pattern := range []string{cmp.Or(os.Getenv("SIGNALBOX_CORPUS"), "../../../shared/corpus/dev") + "/*/*.txt", "../signature/testdata/*.txtar"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			logs[name] = string(text)
		}
	}
	return logs
}

// mixed are the lines of all logs in turns: such a log is full of what was heard before.
func mixed(logs map[string]string) string {
	var all [][]string
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		all = append(all, strings.SplitAfter(logs[name], "\n"))
	}
	var b strings.Builder
	for i := 0; b.Len() < 8<<20; i++ {
		lines := all[i%len(all)]
		b.WriteString(strings.TrimRight(lines[i/len(all)%len(lines)], "\n") + "\n")
	}
	return b.String()
}

// TestReadingAheadSaysTheSame reads every log with one goroutine and with two.
func TestReadingAheadSaysTheSame(t *testing.T) {
	sayTheSame(t, Options{aheadFrom: -1}, Options{aheadFrom: 1})
}

// TestRememberedTextsSayTheSame reads every log with and without what is remembered of texts that were judged.
func TestRememberedTextsSayTheSame(t *testing.T) {
	sayTheSame(t, Options{aheadFrom: -1, forgets: true}, Options{aheadFrom: -1})
}

func sayTheSame(t *testing.T, one, other Options) {
	t.Helper()
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	logs := logsOfCases(t)
	if len(logs) == 0 {
		t.Fatal("no logs")
	}
	if !testing.Short() {
		logs["all of them"] = mixed(logs)
	}
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		read := func(o Options) Log {
			return ReadOne(t.Context(), evidence.Bundle{
				Now: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
				Logs: []evidence.ContainerLog{{
					Source: evidence.Source{File: filepath.Base(name), Rank: -1},
					Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(logs[name])), nil },
				}},
			}, catalog, o)
		}
		if diff := gocmp.Diff(read(one), read(other), gocmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.EquateNaNs(),
			gocmp.Comparer(func(a, b *signature.Signature) bool { return a == b }), gocmp.Comparer(time.Time.Equal)); diff != "" {
			t.Errorf("%s says something else (-%+v +%+v):\n%s", name, one, other, diff)
		}
	}
}

func TestReadsAhead(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	for name, tc := range map[string]struct {
		options Options
		logs    int
		want    bool
	}{
		"as many logs as processors":   {Options{}, procs, false},
		"more":                         {Options{}, procs + 1, false},
		"fewer":                        {Options{}, procs - 1, true},
		"a test that wants it":         {Options{aheadFrom: 1}, 1000, true},
		"a test that does not want it": {Options{aheadFrom: -1}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.options.readsAhead(tc.logs); got != tc.want {
				t.Errorf("readsAhead(%d) of %d processors = %t, want %t", tc.logs, procs, got, tc.want)
			}
		})
	}
}
