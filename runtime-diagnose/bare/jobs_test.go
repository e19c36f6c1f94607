package bare

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// jobsIn are the jobs of a text, each with its pods and the objects of its events.
func jobsIn(t *testing.T, text string) []string {
	t.Helper()
	b := evidence.Bundle{Now: time.Unix(1e9, 0)}
	Add(&b, "stdin", []byte(text))
	var out []string
	for _, p := range ByJob(&b) {
		var names []string
		for i := range p.Bundle.Pods {
			names = append(names, p.Bundle.Pods[i].Name)
		}
		for i := range p.Bundle.Events {
			names = append(names, p.Bundle.Events[i].InvolvedObject.Name)
		}
		out = append(out, fmt.Sprintf("%s/%s: %s", p.Job.Namespace, p.Job.Name, strings.Join(names, " ")))
	}
	return out
}

const podHeader = "NAME READY STATUS RESTARTS AGE\n"

func rows(names ...string) string {
	return podHeader + strings.Join(names, " 0/1 Error 0 5m\n") + " 0/1 Error 0 5m\n"
}

func TestByJob(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"one job":                      {rows("a-master-0", "a-worker-0", "a-worker-10"), nil},
		"two jobs":                     {rows("a-master-0", "b-worker-0", "a-worker-1"), []string{"/a: a-master-0 a-worker-1", "/b: b-worker-0"}},
		"a name that begins like one":  {rows("a-master-0", "a-b-worker-0"), []string{"/a: a-master-0", "/a-b: a-b-worker-0"}},
		"names of no form":             {rows("actor-0", "learner-0"), nil},
		"one of no form beside a job":  {rows("a-master-0", "a-worker-0", "data-server"), nil},
		"one of a job's name":          {rows("a-master-0", "a-coordinator", "b-master-0"), []string{"/a: a-master-0 a-coordinator", "/b: b-master-0"}},
		"a JobSet":                     {rows("llm-a-0-0-x7k2p", "llm-data-loader-0-0-bq4zd", "llm-data-loader-1-0-bq4zd"), nil},
		"Jobs":                         {rows("sft-x7k2p", "sft-0-x7k2p", "eval-bq4zd"), []string{"/sft: sft-x7k2p sft-0-x7k2p", "/eval: eval-bq4zd"}},
		"an MPIJob":                    {rows("m-launcher-x7k2p", "m-worker-0"), nil},
		"a LeaderWorkerSet":            {rows("l-0", "l-0-1", "l-1", "l-1-1"), nil},
		"a RayJob":                     {rows("t-bq4zd", "t-w9s6t-head-x7k2p", "t-w9s6t-small-worker-d8m5c"), nil},
		"commands name the namespaces": {"$ kubectl get pods -n x\n" + rows("a-0") + "$ kubectl -n y get pods\n" + rows("a-0"), []string{"x/a-0: a-0", "y/a-0: a-0"}},
		"a namespace is said once":     {"12m Warning Failed pod/a-worker-0 gone\n12m Normal Scheduled pod/a-worker-0 Successfully assigned x/a-worker-0 to n1\n", nil},
		"nodes go with their pods": {
			"1m Normal Scheduled pod/a-worker-0 Successfully assigned x/a-worker-0 to n1\n1m Warning Failed pod/b-worker-0 gone\n1m Warning NodeNotReady node/n1 not ready\n1m Warning NodeNotReady node/n2 not ready\n",
			[]string{"x/a: a-worker-0 n1", "x/b: b-worker-0", "/n2: n2"},
		},
		"what jobs say is theirs": {
			"1m Warning Failed pytorchjob/a gone\n1m Warning Failed pod/b-worker-0 gone\n1m Warning Failed pod/a-worker-0 gone\n1m Warning Failed persistentvolumeclaim/c gone\n",
			[]string{"/a: a a-worker-0", "/b: b-worker-0", "/c: c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := jobsIn(t, c.text); !slices.Equal(got, c.want) {
				t.Errorf("jobs are %q, want %q", got, c.want)
			}
		})
	}
}

// The lines of other jobs are left out, and all others have the numbers that they had.
func TestByJobKeepsPlaces(t *testing.T) {
	b := evidence.Bundle{}
	Add(&b, "stdin", []byte(podHeader+"a-worker-0 0/1 Error 0 5m\nb-worker-0 0/1 Error 0 5m\na-worker-1 0/1 Error 0 5m\n"))
	for _, p := range ByJob(&b) {
		if p.Job.Name != "a" {
			continue
		}
		in, err := p.Bundle.Logs[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if want := podHeader + "a-worker-0 0/1 Error 0 5m\na-worker-1 0/1 Error 0 5m\n"; string(text) != want || !slices.Equal(p.Bundle.Logs[0].Numbers, []int{1, 2, 4}) {
			t.Errorf("the lines %v of a are %q, want %q", p.Bundle.Logs[0].Numbers, text, want)
		}
		return
	}
	t.Error("a is not there")
}

// A log of no pod may be of any job: nothing is taken apart.
func TestByJobOfALogOfNobody(t *testing.T) {
	b := evidence.Bundle{}
	Add(&b, "stdin", []byte(rows("a-worker-0", "b-worker-0")))
	b.AddLog("train.log", []byte("step 1\n"))
	if got := ByJob(&b); got != nil {
		t.Errorf("taken apart into %d", len(got))
	}
}
